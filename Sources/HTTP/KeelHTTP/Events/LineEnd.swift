/// A search for line ends in raw bytes, eight bytes at a time.
enum LineEnd {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")

    /// Returns the position of the first LF or CR at or after `start`, or the number of bytes.
    static func find(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start
        let count = bytes.count
        while index + 8 <= count {
            let word = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            )
            let marks =
                zeroBytes(word ^ 0x0A0A_0A0A_0A0A_0A0A)
                | zeroBytes(word ^ 0x0D0D_0D0D_0D0D_0D0D)
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < count, bytes[index] != lineFeed, bytes[index] != carriageReturn {
            index += 1
        }
        return index
    }

    /// Returns a word whose lowest bit marks the lowest zero byte, in the highest bit of that byte.
    ///
    /// From section 6-1 of "Hacker's Delight" by Henry Warren.
    @inline(__always)
    private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }
}
