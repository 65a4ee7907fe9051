#if Logging

public import Logging

/// The sensitivity of a metadata value, as the author of a log statement declares it.
///
/// ```swift
/// logger.info("signed in", metadata: [
///     "user": "\(user.name, sensitivity: .sensitive)",
///     "host": "\(host, sensitivity: .public)",
/// ])
/// ```
///
/// This is a metadata attribute in the sense of swift-log (SLG-0004): handlers that do not know it write the value as
/// it is. Values without the attribute follow the names and patterns of the `Redactor`.
public enum LogSensitivity: Int64, Sendable, Logger.MetadataValueAttributes.Attribute {
    /// The value is replaced, unless the recorder has no redactor.
    case sensitive = 1
    /// The value is written as it is; the author vouches for it. In an array or a dictionary, it has no effect.
    case `public` = 2
}

extension Logger.MetadataValue.StringInterpolation {
    /// Appends a value with its sensitivity, which applies to the whole text.
    ///
    /// One sensitive part makes the text sensitive.
    public mutating func appendInterpolation(
        _ value: some CustomStringConvertible,
        sensitivity: LogSensitivity
    ) {
        appendInterpolation(value) { attributes in
            guard attributes[LogSensitivity.self] != .sensitive else { return }
            attributes[LogSensitivity.self] = sensitivity
        }
    }
}

#endif
