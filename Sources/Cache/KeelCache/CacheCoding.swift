#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The conversion of a cache's keys and values to the bytes that a tier stores.
///
/// The format's name and version are part of an entry's address in the tier: after a change of either, older entries
/// are no longer found.
public struct CacheCoding<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The name of the format, with its version.
    public let format: String
    let key: @Sendable (Key) throws -> [UInt8]
    let encode: @Sendable (Value) throws -> [UInt8]
    let decode: @Sendable ([UInt8]) throws -> Value

    /// Creates a custom coding.
    ///
    /// - Parameters:
    ///   - format: The name of the byte format.
    ///   - version: The version of the format; raise it when the format changes.
    ///   - key: Returns the bytes of a key: equal for equal keys, different for different ones.
    ///   - encode: Returns the bytes of a value.
    ///   - decode: Returns the value that the bytes encode; throws if the bytes are not a value.
    public init(
        format: String,
        version: Int = 1,
        key: @escaping @Sendable (Key) throws -> [UInt8],
        encode: @escaping @Sendable (Value) throws -> [UInt8],
        decode: @escaping @Sendable ([UInt8]) throws -> Value
    ) {
        self.format = "\(format).\(version)"
        self.key = key
        self.encode = encode
        self.decode = decode
    }

    func record(
        of key: Key,
        _ value: Value,
        in space: [UInt8]
    ) throws(CacheError) -> (key: [UInt8], body: [UInt8]) {
        let name = try name(of: key, in: space)
        do {
            return (name, try encode(value))
        } catch {
            throw CacheError(
                .encodingFailed,
                "a value of type \(Value.self) could not be encoded",
                cause: error
            )
        }
    }

    func name(of key: Key, in space: [UInt8]) throws(CacheError) -> [UInt8] {
        do {
            return space + (try self.key(key))
        } catch {
            throw CacheError(
                .encodingFailed,
                "a key of type \(Key.self) could not be encoded",
                cause: error
            )
        }
    }
}

extension CacheCoding where Key: Encodable {
    static func bytes(of key: Key) throws -> [UInt8] {
        if let string = key as? String { return Array(string.utf8) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(try encoder.encode(key))
    }
}

extension CacheCoding where Key: Encodable, Value: Codable {
    /// Bytes and strings as they are, and all other values as JSON.
    static var standard: CacheCoding {
        CacheCoding<Key, [UInt8]>.bytes as? Self ?? CacheCoding<Key, Data>.data as? Self
            ?? CacheCoding<Key, String>.string as? Self ?? .json()
    }

    /// Returns a coding that stores values as JSON; raise `version` after an incompatible change of the value type.
    public static func json(version: Int = 1) -> CacheCoding {
        CacheCoding(
            format: "json",
            version: version,
            key: { try bytes(of: $0) },
            encode: { Array(try JSONEncoder().encode($0)) },
            decode: { try JSONDecoder().decode(Value.self, from: Data($0)) }
        )
    }
}

extension CacheCoding where Key: Encodable, Value == [UInt8] {
    /// A coding that stores bytes unchanged.
    public static var bytes: CacheCoding {
        CacheCoding(
            format: "bytes",
            key: { try bytes(of: $0) },
            encode: { $0 },
            decode: { $0 }
        )
    }
}

extension CacheCoding where Key: Encodable, Value == Data {
    /// A coding that stores data unchanged.
    public static var data: CacheCoding {
        CacheCoding(
            format: "bytes",
            key: { try bytes(of: $0) },
            encode: { Array($0) },
            decode: { Data($0) }
        )
    }
}

extension CacheCoding where Key: Encodable, Value == String {
    /// A coding that stores strings as UTF-8.
    public static var string: CacheCoding {
        CacheCoding(
            format: "text",
            key: { try bytes(of: $0) },
            encode: { Array($0.utf8) },
            decode: { bytes in
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw CacheError(.decodingFailed, "the bytes are not UTF-8")
                }
                return text
            }
        )
    }
}
