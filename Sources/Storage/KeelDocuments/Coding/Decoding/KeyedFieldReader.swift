/// A reader of the fields of a map, in any order.
struct KeyedFieldReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let table: FieldTable

    init(_ source: DecodingSource, at offset: Int, keepsKeys: Bool) throws {
        table = try FieldTable(source, at: offset, keepsKeys: keepsKeys)
    }

    @inline(__always)
    var source: DecodingSource { table.source }

    var codingPath: [any CodingKey] { source.codingPath(to: table.offset) }

    var allKeys: [Key] {
        table.names.compactMap { name in
            Key(stringValue: table.keepsKeys ? name : source.keys.codingKey(name))
        }
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { source.isNull(at: try offset(key)) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let offset = find(key) else { return try decodeMissing(type, key) }
        return try source.decode(type, at: offset)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let offset = find(key), !source.isNull(at: offset) else { return nil }
        return try source.decode(type, at: offset)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        KeyedDecodingContainer(
            try KeyedFieldReader<NestedKey>(source, at: try offset(key), keepsKeys: false)
        )
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try ElementReader(source, at: try offset(key))
    }

    func superDecoder() throws -> any Decoder {
        decoder(at: table.find(DocumentCodingKey.inherited.stringValue))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { decoder(at: find(key)) }

    private func decoder(at offset: Int?) -> ValueDecoder {
        ValueDecoder(source: source, offset: offset ?? ~table.offset)
    }

    /// Decodes a wrapper that needs no field; throws for any other type.
    private func decodeMissing<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
        guard T.self is any FieldlessDecodable.Type else {
            throw source.missing(key, in: table.offset)
        }
        return try T(from: decoder(at: nil))
    }

    @inline(__always)
    func find(_ key: Key) -> Int? {
        let name = key.stringValue
        return table.find(table.keepsKeys ? name : source.fieldName(name))
    }

    @inline(__always)
    func offset(_ key: Key) throws -> Int {
        guard let offset = find(key) else { throw source.missing(key, in: table.offset) }
        return offset
    }
}

/// A type that can be decoded from a missing field.
protocol FieldlessDecodable {}
