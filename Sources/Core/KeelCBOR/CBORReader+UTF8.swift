extension CBORReader {
    /// Returns whether the bytes at `range` are UTF-8: RFC 3629, no overlong forms, no surrogates.
    @usableFromInline
    func isUTF8(_ range: Range<Int>) -> Bool {
        withBytes(in: range) { buffer in
            let raw = UnsafeRawBufferPointer(buffer)
            var index = 0
            while index < raw.count {
                // Most text is ASCII, so check eight bytes at a time.
                if raw.count - index >= 8,
                    raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                        & 0x8080_8080_8080_8080 == 0
                {
                    index += 8
                    continue
                }
                guard let length = Self.scalarLength(raw, at: index) else { return false }
                index += length
            }
            return true
        }
    }

    /// Returns the length of the scalar at `index`, or nil if it is invalid (table 3-7 of Unicode).
    private static func scalarLength(_ raw: UnsafeRawBufferPointer, at index: Int) -> Int? {
        let first = raw[index]
        guard first >= 0x80 else { return 1 }
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xbf
        switch first {
        case 0xc2...0xdf: length = 2
        case 0xe0...0xef:
            length = 3
            if first == 0xe0 { second = 0xa0...0xbf }
            if first == 0xed { second = 0x80...0x9f }
        case 0xf0...0xf4:
            length = 4
            if first == 0xf0 { second = 0x90...0xbf }
            if first == 0xf4 { second = 0x80...0x8f }
        default: return nil
        }
        guard raw.count - index >= length, second.contains(raw[index + 1]) else { return nil }
        for position in (index + 2)..<(index + length) where raw[position] & 0xc0 != 0x80 {
            return nil
        }
        return length
    }
}
