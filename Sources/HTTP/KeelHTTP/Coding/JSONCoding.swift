#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The JSON conventions of a service: its names and its dates.
public struct JSONCoding: Sendable, Hashable {
    /// The spelling of property names.
    public enum Names: Sendable, Hashable {
        /// As in the Swift type.
        case asWritten
        /// `createdAt` becomes `created_at`, and both `imageURL` and `imageUrl` become `image_url`.
        ///
        /// Decoding looks for a key as the type spells it, then for its snake case, so explicit `CodingKeys` such as
        /// `"price_level"` work as well. Encoding leaves a key without capital letters unchanged. The keys of a
        /// dictionary are never changed.
        ///
        /// A type that lists its container's `allKeys` sees `image_url` as the first of its keys that matches:
        /// `image_url`, `imageUrl`, `imageURL`.
        case snakeCase
    }

    /// The format of dates.
    public enum Dates: Sendable, Hashable {
        /// RFC 3339 text in whole seconds, such as `2025-01-31T08:00:00Z`.
        ///
        /// Decoding accepts any fraction, and `Z` or any offset.
        case iso8601
        /// RFC 3339 text in milliseconds, such as `2025-01-31T08:00:00.125Z`.
        ///
        /// Decoding accepts the same texts as ``iso8601``.
        case iso8601WithFraction
        /// The number of seconds since 1 January 1970.
        case secondsSince1970
        /// The number of milliseconds since 1 January 1970.
        case millisecondsSince1970
        /// A day in UTC, such as `2025-01-31`.
        ///
        /// Encoding drops the time of day; decoding accepts only a day and returns its start.
        case day
        /// Text in a custom style.
        case custom(DateStyle)
    }

    /// The spelling of property names.
    public var names: Names

    /// The format of dates.
    public var dates: Dates

    /// Creates JSON conventions.
    public init(names: Names = .asWritten, dates: Dates = .iso8601) {
        self.names = names
        self.dates = dates
    }

    /// Names as in the Swift type, dates as ISO 8601.
    public static let standard = JSONCoding()

    /// Names in snake case, dates as ISO 8601.
    public static let snakeCase = JSONCoding(names: .snakeCase)

    /// Encodes a value as JSON.
    ///
    /// - Throws: `EncodingError` if the value has no JSON form, or a date has none in the format ``dates``.
    public func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.dateEncodingStrategy =
            switch dates {
            case .secondsSince1970: .secondsSince1970
            case .millisecondsSince1970: .millisecondsSince1970
            case .iso8601, .iso8601WithFraction, .day, .custom: .custom(dates.write)
            }
        // Foundation's own key strategies are not used: they cannot decode explicit keys.
        switch names {
        case .asWritten: return Array(try encoder.encode(value))
        case .snakeCase: return Array(try encoder.encode(SnakeCaseEncodable(value)))
        }
    }

    /// Decodes a value from JSON.
    ///
    /// - Throws: `DecodingError` if the text is not JSON or does not match the type; its coding path has the names of
    ///   the JSON text.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy =
            switch dates {
            case .secondsSince1970: .secondsSince1970
            case .millisecondsSince1970: .millisecondsSince1970
            case .iso8601, .iso8601WithFraction, .day, .custom: .custom(dates.read)
            }
        switch names {
        case .asWritten:
            return try decoder.decode(type, from: Data(bytes))
        case .snakeCase:
            return try decoder.decode(SnakeCaseDecodable<Value>.self, from: Data(bytes)).value
        }
    }
}

extension JSONCoding.Dates {
    /// Returns the date in this format outside JSON; nil if the format cannot express it.
    func text(of date: Date) -> String? {
        switch self {
        case .iso8601: InternetDate.format(date, hasFraction: false)
        case .iso8601WithFraction: InternetDate.format(date, hasFraction: true)
        case .secondsSince1970:
            Int64(exactly: date.timeIntervalSince1970.rounded(.down))?.description
        case .millisecondsSince1970:
            Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded())?.description
        case .day: InternetDate.formatDay(date)
        case .custom(let style): style.text(of: date)
        }
    }

    private func date(of text: String) -> Date? {
        switch self {
        case .day: InternetDate.parseDay(text)
        case .custom(let style): style.date(of: text)
        default: InternetDate.parse(text)
        }
    }

    private var expectation: String {
        switch self {
        case .day: "an ISO 8601 calendar date"
        case .custom(let style): "a date in the style '\(style.name)'"
        default: "an ISO 8601 date"
        }
    }

    @Sendable fileprivate func read(from decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        guard let date = date(of: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "This is not \(expectation)."
            )
        }
        return date
    }

    @Sendable fileprivate func write(_ date: Date, to encoder: any Encoder) throws {
        guard let text = text(of: date) else {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "The date cannot be written as \(expectation)."
            )
            throw EncodingError.invalidValue(date, context)
        }
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// JSON as encoded and decoded by Foundation's coders, with your settings.
///
/// Prefer ``JSONCoding`` if its names and dates suffice: its snake case works together with explicit `CodingKeys`.
public struct FoundationJSONCoding: BodyCoding {
    public let mediaType: String

    private let encoder: @Sendable () -> JSONEncoder
    private let decoder: @Sendable () -> JSONDecoder

    /// Creates a coding; `encoder` and `decoder` create new coders for each body.
    public init(
        mediaType: String = "application/json",
        encoder: @escaping @Sendable () -> JSONEncoder = { JSONEncoder() },
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        self.mediaType = mediaType
        self.encoder = encoder
        self.decoder = decoder
    }

    public func encode(_ value: some Encodable) throws -> [UInt8] {
        Array(try encoder().encode(value))
    }

    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try decoder().decode(type, from: Data(bytes))
    }
}
