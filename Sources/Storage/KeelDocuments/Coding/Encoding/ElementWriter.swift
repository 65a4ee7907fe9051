internal import KeelCBOR

struct ElementWriter: UnkeyedEncodingContainer {
    private let frame: EncodingFrame
    private let flaw: (any Error)?

    init(frame: EncodingFrame) {
        self.frame = frame
        do {
            try frame.becomeArray()
            flaw = nil
        } catch {
            frame.refuse(error)
            flaw = error
        }
    }

    var codingPath: [any CodingKey] { frame.codingPath }
    var count: Int { frame.count }

    func encodeNil() throws {
        try open()
        frame.sink.writer.null()
    }

    func encode(_ value: Bool) throws {
        try open()
        frame.sink.writer.boolean(value)
    }

    func encode(_ value: String) throws {
        try open()
        frame.sink.writer.text(value)
    }

    func encode(_ value: Double) throws {
        try open()
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

    func encode<T: Encodable>(_ value: T) throws {
        if let flaw { throw flaw }
        try frame.encodeElement(value)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        deferred().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        deferred().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { deferred() }

    @inline(__always)
    private func open() throws {
        if let flaw { throw flaw }
        try frame.openElement()
    }

    private func write<I: FixedWidthInteger>(_ value: I) throws {
        guard let integer = Int64(exactly: value) else {
            let key = DocumentCodingKey(index: count)
            throw frame.flaw(CodingWords.integerTooLarge, at: key, of: I.self)
        }
        try open()
        frame.sink.writer.integer(integer)
    }

    private func deferred() -> EncodingFrame {
        do {
            if let flaw { throw flaw }
            return try frame.deferredElement()
        } catch {
            return frame.frame(failingWith: error)
        }
    }
}
