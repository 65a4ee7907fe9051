// The part of Apple's os that the output for the unified log needs, by its documentation.

/// Writes to the log of one subsystem and category.
public struct Logger: Sendable {
    private let subsystem: String
    private let category: String

    public init(subsystem: String, category: String) {
        self.subsystem = subsystem
        self.category = category
    }

    public func log(level: OSLogType, _ message: OSLogMessage) {
        UnifiedLog.append(
            UnifiedLog.Entry(
                subsystem: subsystem,
                category: category,
                type: level,
                text: message.interpolation.text
            )
        )
    }
}

/// The retention of an entry.
public struct OSLogType: Equatable, Sendable {
    let rawValue: UInt8

    public static let `default` = OSLogType(rawValue: 0x00)
    public static let info = OSLogType(rawValue: 0x01)
    public static let debug = OSLogType(rawValue: 0x02)
    public static let error = OSLogType(rawValue: 0x10)
    public static let fault = OSLogType(rawValue: 0x11)
}

/// The visibility of a value.
public struct OSLogPrivacy: Equatable, Sendable {
    let isPublic: Bool

    public static let `public` = OSLogPrivacy(isPublic: true)
    public static let `private` = OSLogPrivacy(isPublic: false)
    /// For text, the same as private.
    public static let auto = OSLogPrivacy(isPublic: false)
}

/// A message; values that are not public are shown as `<private>`.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    public let interpolation: OSLogInterpolation

    public init(stringInterpolation: OSLogInterpolation) { interpolation = stringInterpolation }

    public init(stringLiteral value: String) { interpolation = OSLogInterpolation(text: value) }
}

public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
    var text: String

    init(text: String) { self.text = text }

    public init(literalCapacity: Int, interpolationCount: Int) { text = "" }

    public mutating func appendLiteral(_ literal: String) { text += literal }

    public mutating func appendInterpolation(
        _ value: @autoclosure @escaping () -> String,
        privacy: OSLogPrivacy = .auto
    ) {
        text += privacy.isPublic ? value() : "<private>"
    }
}
