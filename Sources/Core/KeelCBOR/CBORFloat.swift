/// The arithmetic of RFC 8949's floating-point widths.
///
/// `Float16` does not exist on Intel Macs, so halves are assembled from bits.
@usableFromInline
enum CBORFloat: Sendable {
    /// The half-precision pattern of the only NaN that ``CBORWriter`` writes.
    @inlinable static var canonicalNaN: UInt16 { 0x7e00 }

    /// Returns the half-precision pattern equal to a number or infinity, or nil if there is none.
    @usableFromInline
    static func half(exactly value: Float) -> UInt16? {
        let bits = value.bitPattern
        let sign = UInt16(truncatingIfNeeded: bits >> 16) & 0x8000
        let exponent = Int(bits >> 23) & 0xff
        let fraction = bits & 0x7f_ffff
        switch exponent - 127 {
        case -127:
            // Zero fits; every subnormal single is far below the smallest half.
            return fraction == 0 ? sign : nil
        case -24 ... -15:
            // A subnormal half: the implied one moves into the fraction.
            let significand = fraction | 0x80_0000
            let shift = -1 - (exponent - 127)
            guard significand & ((1 << shift) - 1) == 0 else { return nil }
            return sign | UInt16(truncatingIfNeeded: significand >> shift)
        case -14...15:
            guard fraction & 0x1fff == 0 else { return nil }
            return sign | UInt16(exponent - 112) << 10
                | UInt16(truncatingIfNeeded: fraction >> 13)
        case 128:
            return fraction == 0 ? sign | 0x7c00 : nil
        default:
            return nil
        }
    }

    @usableFromInline
    static func double(half: UInt16) -> Double {
        let sign: FloatingPointSign = half & 0x8000 == 0 ? .plus : .minus
        let exponent = UInt64(half >> 10) & 0x1f
        let fraction = UInt64(half & 0x3ff)
        switch exponent {
        case 0:
            // 2⁻²⁴ is the unit of subnormal halves; the product is exact.
            let magnitude = Double(fraction) * 0x1p-24
            return sign == .minus ? -magnitude : magnitude
        case 31:
            // Infinity, or a NaN with its payload on the left, as in widening.
            return Double(bitPattern: UInt64(half & 0x8000) << 48 | 0x7ff << 52 | fraction << 42)
        default:
            return Double(
                bitPattern: UInt64(half & 0x8000) << 48 | (exponent + 1008) << 52 | fraction << 42
            )
        }
    }
}
