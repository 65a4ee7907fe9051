#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// JSON as encoded and decoded by Foundation's coders, with your settings.
///
/// ```swift
/// configuration.coding = FoundationJSONCoding(
///     encoder: {
///         let encoder = JSONEncoder()
///         encoder.dataEncodingStrategy = .base64
///         return encoder
///     },
///     decoder: {
///         let decoder = JSONDecoder()
///         decoder.keyDecodingStrategy = .convertFromSnakeCase
///         return decoder
///     }
/// )
/// ```
///
/// Prefer ``JSONCoding`` if its names and dates suffice: its snake case works together with explicit `CodingKeys`.
public struct FoundationJSONCoding: BodyCoding {
    public let mediaType: String

    private let encoder: @Sendable () -> JSONEncoder
    private let decoder: @Sendable () -> JSONDecoder

    /// Creates a coding; `encoder` and `decoder` create new coders for each body, because calls share none.
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
