#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A decoder that looks up each key in its base as spelled, then in snake case.
///
/// Foundation's `convertFromSnakeCase` renames the keys of the text before the type looks them up, so neither an
/// explicit key `"price_level"` nor a property `imageURL` finds its value.
struct SnakeCaseDecoder: Decoder {
    let base: any Decoder

    init(_ base: any Decoder) {
        self.base = base
    }

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(
            SnakeCaseKeyedDecoding(base: try base.container(keyedBy: SnakeCaseKey.self))
        )
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        SnakeCaseUnkeyedDecoding(base: try base.unkeyedContainer())
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        SnakeCaseSingleValueDecoding(base: try base.singleValueContainer())
    }
}

/// A wrapper of a type, which errors should name instead of the wrapper.
protocol DecodingStandIn {
    static var original: any Any.Type { get }
}

struct SnakeCaseDecodable<Value: Decodable>: Decodable, DecodingStandIn {
    static var original: any Any.Type { Value.self }

    let value: Value

    init(from decoder: any Decoder) throws {
        // Foundation's JSON decoder treats these types specially and must see them itself.
        if JSONLeaf.contains(Value.self) {
            value = try decoder.singleValueContainer().decode(Value.self)
        } else {
            value = try Value(from: SnakeCaseDecoder(decoder))
        }
    }
}

/// The types that Foundation's JSON coders treat specially.
enum JSONLeaf {
    static func contains(_ type: any Any.Type) -> Bool {
        type == Date.self || type == URL.self || type == Data.self || type == Decimal.self
    }
}

private struct SnakeCaseKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<SnakeCaseKey>

    var codingPath: [any CodingKey] { base.codingPath }

    var allKeys: [Key] {
        base.allKeys.compactMap { key in
            SnakeCaseKey.properties(writtenAs: key.stringValue)
                .lazy.compactMap { Key(stringValue: $0) }.first
        }
    }

    /// Returns the key of the text; if there is none, the key that an error should name.
    private func resolved(_ key: Key) -> SnakeCaseKey {
        let written = SnakeCaseKey(asWritten: key)
        let converted = SnakeCaseKey(converting: key)
        guard written.stringValue != converted.stringValue else { return written }
        return base.contains(written) ? written : converted
    }

    func contains(_ key: Key) -> Bool { base.contains(resolved(key)) }
    func decodeNil(forKey key: Key) throws -> Bool { try base.decodeNil(forKey: resolved(key)) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try base.decode(type, forKey: resolved(key))
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try base.decode(type, forKey: resolved(key))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if JSONLeaf.contains(type) { return try base.decode(type, forKey: resolved(key)) }
        return try base.decode(SnakeCaseDecodable<Value>.self, forKey: resolved(key)).value
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(
            SnakeCaseKeyedDecoding<Nested>(
                base: try base.nestedContainer(keyedBy: SnakeCaseKey.self, forKey: resolved(key))
            )
        )
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        SnakeCaseUnkeyedDecoding(base: try base.nestedUnkeyedContainer(forKey: resolved(key)))
    }

    func superDecoder() throws -> any Decoder { SnakeCaseDecoder(try base.superDecoder()) }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        SnakeCaseDecoder(try base.superDecoder(forKey: resolved(key)))
    }
}

private struct SnakeCaseUnkeyedDecoding: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try base.decode(type) }
    mutating func decode(_ type: String.Type) throws -> String { try base.decode(type) }
    mutating func decode(_ type: Double.Type) throws -> Double { try base.decode(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try base.decode(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try base.decode(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try base.decode(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try base.decode(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try base.decode(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try base.decode(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try base.decode(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try base.decode(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try base.decode(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try base.decode(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try base.decode(type) }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if JSONLeaf.contains(type) { return try base.decode(type) }
        return try base.decode(SnakeCaseDecodable<Value>.self).value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        KeyedDecodingContainer(
            SnakeCaseKeyedDecoding<Nested>(
                base: try base.nestedContainer(keyedBy: SnakeCaseKey.self)
            )
        )
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        SnakeCaseUnkeyedDecoding(base: try base.nestedUnkeyedContainer())
    }

    mutating func superDecoder() throws -> any Decoder {
        SnakeCaseDecoder(try base.superDecoder())
    }
}

private struct SnakeCaseSingleValueDecoding: SingleValueDecodingContainer {
    let base: any SingleValueDecodingContainer

    var codingPath: [any CodingKey] { base.codingPath }

    func decodeNil() -> Bool { base.decodeNil() }
    func decode(_ type: Bool.Type) throws -> Bool { try base.decode(type) }
    func decode(_ type: String.Type) throws -> String { try base.decode(type) }
    func decode(_ type: Double.Type) throws -> Double { try base.decode(type) }
    func decode(_ type: Float.Type) throws -> Float { try base.decode(type) }
    func decode(_ type: Int.Type) throws -> Int { try base.decode(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try base.decode(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try base.decode(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try base.decode(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try base.decode(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try base.decode(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try base.decode(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try base.decode(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try base.decode(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try base.decode(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if JSONLeaf.contains(type) { return try base.decode(type) }
        return try base.decode(SnakeCaseDecodable<Value>.self).value
    }
}
