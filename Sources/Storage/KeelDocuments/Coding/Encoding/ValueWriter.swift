internal import KeelCBOR

struct ValueWriter: SingleValueEncodingContainer {
    let frame: EncodingFrame

    var codingPath: [any CodingKey] { frame.codingPath }

    func encodeNil() throws {
        try frame.becomeValue()
        frame.sink.writer.null()
    }

    func encode(_ value: Bool) throws {
        try frame.becomeValue()
        frame.sink.writer.boolean(value)
    }

    func encode(_ value: String) throws {
        try frame.becomeValue()
        frame.sink.writer.text(value)
    }

    func encode(_ value: Double) throws {
        try frame.becomeValue()
        frame.sink.writer.double(value)
    }

    func encode(_ value: Float) throws { try encode(Double(value)) }

    func encode(_ value: Int) throws { try write(value) }
    func encode(_ value: Int8) throws { try write(value) }
    func encode(_ value: Int16) throws { try write(value) }
    func encode(_ value: Int32) throws { try write(value) }
    func encode(_ value: Int64) throws { try write(value) }
    func encode(_ value: UInt) throws { try write(value) }
    func encode(_ value: UInt8) throws { try write(value) }
    func encode(_ value: UInt16) throws { try write(value) }
    func encode(_ value: UInt32) throws { try write(value) }
    func encode(_ value: UInt64) throws { try write(value) }

    func encode<T: Encodable>(_ value: T) throws { try frame.encodeWhole(value) }

    private func write<I: FixedWidthInteger>(_ value: I) throws {
        guard let integer = Int64(exactly: value) else {
            throw frame.flaw(CodingWords.integerTooLarge, of: I.self)
        }
        try frame.becomeValue()
        frame.sink.writer.integer(integer)
    }
}
