/// A 128-bit hash of a file's content; not cryptographic.
package struct ContentHash: Hashable, Sendable {
    package let first: UInt64
    package let second: UInt64

    package init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    package init(_ bytes: UnsafeRawBufferPointer) {
        var low: UInt64 = 0x9E37_79B9_7F4A_7C15
        var high: UInt64 = 0xD1B5_4A32_D192_ED03 ^ UInt64(bytes.count)
        var position = 0
        while position + 16 <= bytes.count {
            let left = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let right = bytes.loadUnaligned(fromByteOffset: position + 8, as: UInt64.self)
            Self.mix(&low, &high, left, right)
            position += 16
        }
        var tail: (UInt64, UInt64) = (0, 0)
        for (offset, byte) in bytes[position...].enumerated() {
            if offset < 8 {
                tail.0 |= UInt64(byte) << (8 * offset)
            } else {
                tail.1 |= UInt64(byte) << (8 * (offset - 8))
            }
        }
        Self.mix(&low, &high, tail.0, tail.1)
        Self.mix(&low, &high, high, low)
        first = low
        second = high
    }

    @inline(__always)
    private static func mix(
        _ low: inout UInt64,
        _ high: inout UInt64,
        _ left: UInt64,
        _ right: UInt64
    ) {
        let one = (low ^ left).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
        let two = (high ^ right).multipliedFullWidth(by: 0xE703_7ED1_A0B4_28DB)
        low = one.high ^ one.low &+ two.high &+ right
        high = two.high ^ two.low &+ one.high &+ left
    }
}
