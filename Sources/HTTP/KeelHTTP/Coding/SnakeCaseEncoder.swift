import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An encoder that passes keys to its base in snake case, except the keys of dictionaries.
struct SnakeCaseEncoder: Encoder {
    let base: any Encoder

    init(_ base: any Encoder) {
        self.base = base
    }

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(
            SnakeCaseKeyedEncoding(base: base.container(keyedBy: SnakeCaseKey.self))
        )
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        SnakeCaseUnkeyedEncoding(base: base.unkeyedContainer())
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SnakeCaseSingleValueEncoding(base: base.singleValueContainer())
    }
}

struct SnakeCaseEncodable<Value: Encodable>: Encodable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        // Foundation's JSON encoder treats these types specially and must see them itself.
        if JSONLeaf.contains(Value.self) {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        } else {
            try value.encode(to: SnakeCaseEncoder(encoder))
        }
    }
}

/// The type of a dictionary's keys, which has no public name; encoding a dictionary reveals it.
private enum DictionaryKeys {
    static let type: ObjectIdentifier? = {
        let probe = KeyTypeProbe()
        // Encoding an empty dictionary cannot fail; if a later version fails, the type stays unknown.
        _ = try? JSONEncoder().encode(probe)
        return probe.keyType.withLock { $0 }
    }()

    private final class KeyTypeProbe: Encodable, Sendable {
        let keyType = Mutex<ObjectIdentifier?>(nil)

        func encode(to encoder: any Encoder) throws {
            try [String: Bool]().encode(to: Listener(base: encoder, probe: self))
        }
    }

    private struct Listener: Encoder {
        let base: any Encoder
        let probe: KeyTypeProbe

        var codingPath: [any CodingKey] { base.codingPath }
        var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            probe.keyType.withLock { $0 = ObjectIdentifier(type) }
            return base.container(keyedBy: type)
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer { base.unkeyedContainer() }

        func singleValueContainer() -> any SingleValueEncodingContainer {
            base.singleValueContainer()
        }
    }
}

private struct SnakeCaseKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var base: KeyedEncodingContainer<SnakeCaseKey>
    private let isDictionary: Bool

    init(base: KeyedEncodingContainer<SnakeCaseKey>) {
        self.base = base
        isDictionary = ObjectIdentifier(Key.self) == DictionaryKeys.type
    }

    var codingPath: [any CodingKey] { base.codingPath }

    private func converted(_ key: Key) -> SnakeCaseKey {
        isDictionary ? SnakeCaseKey(asWritten: key) : SnakeCaseKey(converting: key)
    }

    mutating func encodeNil(forKey key: Key) throws { try base.encodeNil(forKey: converted(key)) }

    mutating func encode(_ value: Bool, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: String, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: Double, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: Float, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: Int, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: Int8, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: Int16, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: Int32, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: Int64, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: UInt, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: UInt8, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: UInt16, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: UInt32, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode(_ value: UInt64, forKey key: Key) throws {
        try base.encode(value, forKey: converted(key))
    }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if JSONLeaf.contains(Value.self) {
            try base.encode(value, forKey: converted(key))
        } else {
            try base.encode(SnakeCaseEncodable(value), forKey: converted(key))
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(
            SnakeCaseKeyedEncoding<Nested>(
                base: base.nestedContainer(keyedBy: SnakeCaseKey.self, forKey: converted(key))
            )
        )
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        SnakeCaseUnkeyedEncoding(base: base.nestedUnkeyedContainer(forKey: converted(key)))
    }

    mutating func superEncoder() -> any Encoder { SnakeCaseEncoder(base.superEncoder()) }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        SnakeCaseEncoder(base.superEncoder(forKey: converted(key)))
    }
}

private struct SnakeCaseUnkeyedEncoding: UnkeyedEncodingContainer {
    var base: any UnkeyedEncodingContainer

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int { base.count }

    mutating func encodeNil() throws { try base.encodeNil() }
    mutating func encode(_ value: Bool) throws { try base.encode(value) }
    mutating func encode(_ value: String) throws { try base.encode(value) }
    mutating func encode(_ value: Double) throws { try base.encode(value) }
    mutating func encode(_ value: Float) throws { try base.encode(value) }
    mutating func encode(_ value: Int) throws { try base.encode(value) }
    mutating func encode(_ value: Int8) throws { try base.encode(value) }
    mutating func encode(_ value: Int16) throws { try base.encode(value) }
    mutating func encode(_ value: Int32) throws { try base.encode(value) }
    mutating func encode(_ value: Int64) throws { try base.encode(value) }
    mutating func encode(_ value: UInt) throws { try base.encode(value) }
    mutating func encode(_ value: UInt8) throws { try base.encode(value) }
    mutating func encode(_ value: UInt16) throws { try base.encode(value) }
    mutating func encode(_ value: UInt32) throws { try base.encode(value) }
    mutating func encode(_ value: UInt64) throws { try base.encode(value) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        if JSONLeaf.contains(Value.self) {
            try base.encode(value)
        } else {
            try base.encode(SnakeCaseEncodable(value))
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(
            SnakeCaseKeyedEncoding<Nested>(base: base.nestedContainer(keyedBy: SnakeCaseKey.self))
        )
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        SnakeCaseUnkeyedEncoding(base: base.nestedUnkeyedContainer())
    }

    mutating func superEncoder() -> any Encoder { SnakeCaseEncoder(base.superEncoder()) }
}

private struct SnakeCaseSingleValueEncoding: SingleValueEncodingContainer {
    var base: any SingleValueEncodingContainer

    var codingPath: [any CodingKey] { base.codingPath }

    mutating func encodeNil() throws { try base.encodeNil() }
    mutating func encode(_ value: Bool) throws { try base.encode(value) }
    mutating func encode(_ value: String) throws { try base.encode(value) }
    mutating func encode(_ value: Double) throws { try base.encode(value) }
    mutating func encode(_ value: Float) throws { try base.encode(value) }
    mutating func encode(_ value: Int) throws { try base.encode(value) }
    mutating func encode(_ value: Int8) throws { try base.encode(value) }
    mutating func encode(_ value: Int16) throws { try base.encode(value) }
    mutating func encode(_ value: Int32) throws { try base.encode(value) }
    mutating func encode(_ value: Int64) throws { try base.encode(value) }
    mutating func encode(_ value: UInt) throws { try base.encode(value) }
    mutating func encode(_ value: UInt8) throws { try base.encode(value) }
    mutating func encode(_ value: UInt16) throws { try base.encode(value) }
    mutating func encode(_ value: UInt32) throws { try base.encode(value) }
    mutating func encode(_ value: UInt64) throws { try base.encode(value) }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        if JSONLeaf.contains(Value.self) {
            try base.encode(value)
        } else {
            try base.encode(SnakeCaseEncodable(value))
        }
    }
}
