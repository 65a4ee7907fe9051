#if Logging

public import Logging

/// What the author of a log statement knows about a value of its metadata.
///
/// ```swift
/// logger.info("signed in", metadata: [
///     "user": "\(user.name, sensitivity: .sensitive)",
///     "host": "\(host, sensitivity: .open)",
/// ])
/// ```
///
/// It is an attribute in the sense of swift-log (SLG-0004): handlers that do not know it write the
/// value as it is. A value without it obeys the names and patterns of the `Redactor`.
public enum LogSensitivity: Int64, Sendable, Logger.MetadataValueAttributes.Attribute {
    /// The value is taken out, whatever it looks like.
    case sensitive = 1
    /// The value is written as it is, whatever it looks like: the author vouches for it.
    case open = 2
}

extension Logger.MetadataValue.StringInterpolation {
    /// Adds a value and says whether it may be written down.
    ///
    /// What is said of one part holds for the whole text; where parts differ, it is sensitive.
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
