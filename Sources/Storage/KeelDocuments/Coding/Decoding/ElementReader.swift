internal import KeelCBOR

struct ElementReader: UnkeyedDecodingContainer {
    // Narrow integers keep the size at three words, which fit into an existential without a box.
    private let source: DecodingSource
    private let start: Int32
    private var position: Int32
    private let total: Int32
    private var index: Int32 = 0

    init(_ source: DecodingSource, at offset: Int) throws {
        self.source = source
        let (count, rest) = try source.arrayReader(at: offset)
        start = Int32(truncatingIfNeeded: offset)
        position = Int32(truncatingIfNeeded: rest.position)
        total = Int32(truncatingIfNeeded: count)
    }

    var codingPath: [any CodingKey] { source.codingPath(to: Int(start)) }
    var count: Int? { Int(total) }
    var currentIndex: Int { Int(index) }
    var isAtEnd: Bool { index >= total }

    mutating func decodeNil() throws -> Bool {
        let offset = try offset()
        guard source.isNull(at: offset) else { return false }
        try move(from: offset)
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try next { try $0.boolean(at: $1) }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        try next { try $0.string(at: $1) }
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        try next { try $0.double(at: $1) }
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        try next { try $0.float(at: $1) }
    }

    mutating func decode(_ type: Int.Type) throws -> Int { try integer() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try next { try $0.decode(type, at: $1) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next { KeyedDecodingContainer(try KeyedFieldReader($0, at: $1, keepsKeys: false)) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try ElementReader($0, at: $1) }
    }

    mutating func superDecoder() throws -> any Decoder {
        try next { ValueDecoder(source: $0, offset: $1) }
    }

    /// Reads the next element, and advances only on success.
    @inline(__always)
    private mutating func next<Result>(
        _ read: (DecodingSource, Int) throws -> Result
    ) throws -> Result {
        let offset = try offset()
        let result = try read(source, offset)
        try move(from: offset)
        return result
    }

    @inline(__always)
    private mutating func integer<I: FixedWidthInteger>() throws -> I {
        try next { try $0.integer(I.self, at: $1) }
    }

    @inline(__always)
    private func offset() throws -> Int {
        guard index < total else {
            throw DecodingError.valueNotFound(
                DocumentValue.self,
                DecodingError.Context(
                    codingPath: codingPath + [DocumentCodingKey(index: Int(index))],
                    debugDescription: "the array has only \(total) elements"
                )
            )
        }
        return Int(position)
    }

    @inline(__always)
    private mutating func move(from offset: Int) throws {
        position = Int32(truncatingIfNeeded: try source.end(ofItemAt: offset))
        index += 1
    }
}
