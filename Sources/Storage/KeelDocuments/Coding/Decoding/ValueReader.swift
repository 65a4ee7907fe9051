struct ValueReader: SingleValueDecodingContainer {
    let source: DecodingSource
    let offset: Int
    let keepsKeys: Bool

    var codingPath: [any CodingKey] { source.codingPath(to: offset < 0 ? ~offset : offset) }

    func decodeNil() -> Bool { offset < 0 || source.isNull(at: offset) }

    func decode(_ type: Bool.Type) throws -> Bool { try source.boolean(at: place) }
    func decode(_ type: String.Type) throws -> String { try source.string(at: place) }
    func decode(_ type: Double.Type) throws -> Double { try source.double(at: place) }
    func decode(_ type: Float.Type) throws -> Float { try source.float(at: place) }
    func decode(_ type: Int.Type) throws -> Int { try source.integer(Int.self, at: place) }
    func decode(_ type: Int8.Type) throws -> Int8 { try source.integer(Int8.self, at: place) }
    func decode(_ type: Int16.Type) throws -> Int16 { try source.integer(Int16.self, at: place) }
    func decode(_ type: Int32.Type) throws -> Int32 { try source.integer(Int32.self, at: place) }
    func decode(_ type: Int64.Type) throws -> Int64 { try source.integer(Int64.self, at: place) }
    func decode(_ type: UInt.Type) throws -> UInt { try source.integer(UInt.self, at: place) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try source.integer(UInt8.self, at: place) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try source.integer(UInt16.self, at: place) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try source.integer(UInt32.self, at: place) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try source.integer(UInt64.self, at: place) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // The value may be a wrapped dictionary, whose keys must not be converted.
        if keepsKeys {
            return try T(from: ValueDecoder(source: source, offset: offset, keepsKeys: true))
        }
        if offset < 0 { return try T(from: ValueDecoder(source: source, offset: offset)) }
        return try source.decode(type, at: offset)
    }

    /// The offset of the value; throws if the value is missing.
    private var place: Int {
        get throws {
            guard offset < 0 else { return offset }
            throw DecodingError.valueNotFound(
                DocumentValue.self,
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "expected a value, found nothing"
                )
            )
        }
    }
}
