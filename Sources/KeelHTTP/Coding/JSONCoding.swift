#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a service writes JSON: its names and its dates.
public struct JSONCoding: Sendable, Hashable {
    /// How the names of properties are written.
    public enum Names: Sendable, Hashable {
        /// As in the Swift type.
        case asWritten
        /// `createdAt` is written `created_at`, and so are `imageURL` and `imageUrl` `image_url`.
        ///
        /// Reading looks for a key as the type writes it, then for its snake case. Explicit
        /// `CodingKeys` such as `"price_level"` therefore work as well as plain properties do.
        /// Writing leaves a key alone that has no capital letter; the keys of a dictionary are data
        /// and are touched neither way.
        ///
        /// A type that lists its container's `allKeys` sees `image_url` as the first of its keys
        /// that fits: `image_url`, `imageUrl`, `imageURL`.
        case snakeCase
    }

    /// How dates are written.
    public enum Dates: Sendable, Hashable {
        /// As RFC 3339 text in whole seconds, such as `2025-01-31T08:00:00Z`.
        ///
        /// Read with or without a fraction, with `Z` or any offset.
        case iso8601
        /// As RFC 3339 text in milliseconds, such as `2025-01-31T08:00:00.125Z`.
        ///
        /// Read as ``iso8601`` is.
        case iso8601WithFraction
        /// As a number of seconds since 1 January 1970.
        case secondsSince1970
        /// As a number of milliseconds since 1 January 1970.
        case millisecondsSince1970
        /// As a day alone, such as `2025-01-31`: its first moment in UTC.
        ///
        /// Writing leaves the time of day out. Reading takes a day only.
        case day
        /// As text in a style of your own.
        case custom(DateStyle)
    }

    /// How the names of properties are written.
    public var names: Names

    /// How dates are written.
    public var dates: Dates

    /// Creates a configuration.
    public init(names: Names = .asWritten, dates: Dates = .iso8601) {
        self.names = names
        self.dates = dates
    }

    /// Names as in the Swift type, dates as ISO 8601.
    public static let standard = JSONCoding()

    /// Names in snake case, dates as ISO 8601.
    public static let snakeCase = JSONCoding(names: .snakeCase)

    /// Returns the JSON text of a value.
    ///
    /// - Throws: `EncodingError` if the value has no JSON form.
    public func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.dateEncodingStrategy =
            switch dates {
            case .secondsSince1970: .secondsSince1970
            case .millisecondsSince1970: .millisecondsSince1970
            case .iso8601, .iso8601WithFraction, .day, .custom: .custom(dates.write)
            }
        // Foundation's own strategies for names are not used: they cannot read explicit keys.
        switch names {
        case .asWritten: return Array(try encoder.encode(value))
        case .snakeCase: return Array(try encoder.encode(SnakeCaseEncodable(value)))
        }
    }

    /// Returns the value that a JSON text stands for.
    ///
    /// - Throws: `DecodingError` if the text is not JSON or does not fit the type. Its coding path
    ///   has the names of the JSON text.
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
    /// The date as this style writes it outside JSON; nil for one that the style cannot write, such
    /// as a year outside 0 to 9999.
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

    /// The date of a text in a style of text; nil if the text is none of it.
    private func date(of text: String) -> Date? {
        switch self {
        case .day: InternetDate.parseDay(text)
        case .custom(let style): style.date(of: text)
        default: InternetDate.parse(text)
        }
    }

    private var expectation: String {
        switch self {
        case .day: "a day as ISO 8601 writes it"
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
