internal import KeelCBOR

struct KeyedFieldWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let frame: EncodingFrame
    /// The error of creating the container, which the first write throws, because creation itself cannot.
    private let flaw: (any Error)?

    init(frame: EncodingFrame) {
        self.frame = frame
        do {
            try frame.becomeMap()
            flaw = nil
        } catch {
            frame.refuse(error)
            flaw = error
        }
    }

    var codingPath: [any CodingKey] { frame.codingPath }

    func encodeNil(forKey key: Key) throws {
        try open(key)
        frame.sink.writer.null()
        frame.closeField()
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        try open(key)
        frame.sink.writer.boolean(value)
        frame.closeField()
    }

    func encode(_ value: String, forKey key: Key) throws {
        try open(key)
        frame.sink.writer.text(value)
        frame.closeField()
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try open(key)
        frame.sink.writer.double(value)
        frame.closeField()
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try encode(Double(value), forKey: key)
    }

    func encode(_ value: Int, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try write(value, key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try write(value, key) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        if let flaw { throw flaw }
        try frame.encodeField(value, forKey: key.stringValue)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        deferred(key.stringValue).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        deferred(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { deferred(DocumentCodingKey.inherited.stringValue) }

    func superEncoder(forKey key: Key) -> any Encoder { deferred(key.stringValue) }

    @inline(__always)
    private func open(_ key: Key) throws {
        if let flaw { throw flaw }
        _ = try frame.openField(key.stringValue)
    }

    @inline(__always)
    private func write<I: FixedWidthInteger>(_ value: I, _ key: Key) throws {
        guard let integer = Int64(exactly: value) else {
            let key = DocumentCodingKey(stringValue: key.stringValue)
            throw frame.flaw(CodingWords.integerTooLarge, at: key, of: I.self)
        }
        try open(key)
        frame.sink.writer.integer(integer)
        frame.closeField()
    }

    private func deferred(_ key: String) -> EncodingFrame {
        do {
            if let flaw { throw flaw }
            return try frame.deferredFrame(forKey: key)
        } catch {
            return frame.frame(failingWith: error)
        }
    }
}
