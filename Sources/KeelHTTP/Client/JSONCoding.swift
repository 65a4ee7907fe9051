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
        /// `createdAt` is written `created_at`.
        ///
        /// Reading turns `image_url` into `imageUrl`: a property must be spelled like that.
        case snakeCase
    }

    /// How dates are written.
    public enum Dates: Sendable, Hashable {
        /// As RFC 3339 text, such as `2025-01-31T08:00:00Z`.
        ///
        /// Written in whole seconds; read with or without a fraction, in any time zone.
        case iso8601
        /// As a number of seconds since 1 January 1970.
        case secondsSince1970
        /// As a number of milliseconds since 1 January 1970.
        case millisecondsSince1970
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
        encoder.keyEncodingStrategy = names == .snakeCase ? .convertToSnakeCase : .useDefaultKeys
        encoder.dateEncodingStrategy =
            switch dates {
            case .iso8601: .iso8601
            case .secondsSince1970: .secondsSince1970
            case .millisecondsSince1970: .millisecondsSince1970
            }
        return Array(try encoder.encode(value))
    }

    /// Returns the value that a JSON text stands for.
    ///
    /// - Throws: `DecodingError` if the text is not JSON or does not fit the type.
    public func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy =
            names == .snakeCase ? .convertFromSnakeCase : .useDefaultKeys
        decoder.dateDecodingStrategy =
            switch dates {
            case .iso8601: .custom(Self.readDate)
            case .secondsSince1970: .secondsSince1970
            case .millisecondsSince1970: .millisecondsSince1970
            }
        return try decoder.decode(type, from: Data(bytes))
    }

    // Foundation's own strategy refuses fractions of a second, which most servers send.
    private static let readDate: @Sendable (any Decoder) throws -> Date = { decoder in
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        let whole = Date.ISO8601FormatStyle()
        let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        guard let date = (try? whole.parse(text)) ?? (try? fractional.parse(text)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "This is not an ISO 8601 date."
            )
        }
        return date
    }
}
