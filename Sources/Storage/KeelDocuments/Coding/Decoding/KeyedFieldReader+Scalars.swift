extension KeyedFieldReader {
    // The standard library's default `decodeIfPresent` would look up each field three times.

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try source.boolean(at: try offset(key))
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key).map { try source.boolean(at: $0) }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try source.string(at: try offset(key))
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try source.string(at: $0) }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try source.double(at: try offset(key))
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try source.double(at: $0) }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try source.float(at: try offset(key))
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try present(key).map { try source.float(at: $0) }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try found(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try found(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try found(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try found(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try found(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try found(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try found(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try found(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try found(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try found(key) }

    @inline(__always)
    private func integer<I: FixedWidthInteger>(_ key: Key) throws -> I {
        try source.integer(I.self, at: try offset(key))
    }

    @inline(__always)
    private func found<I: FixedWidthInteger>(_ key: Key) throws -> I? {
        try present(key).map { try source.integer(I.self, at: $0) }
    }

    /// Returns the offset of a field's value; nil if it is missing or null.
    @inline(__always)
    private func present(_ key: Key) -> Int? {
        guard let offset = find(key), !source.isNull(at: offset) else { return nil }
        return offset
    }
}
