/// The compression function of Argon2's blocks, which have 128 words (1 KiB).
enum Argon2Block {
    static let words = 128

    /// Sets `target` to the compression of two blocks, or mixes it into the existing content.
    ///
    /// `scratch` needs space for two blocks; `target` may be one of the inputs.
    @inline(__always)
    static func compress(
        _ left: UnsafePointer<UInt64>,
        _ right: UnsafePointer<UInt64>,
        into target: UnsafeMutablePointer<UInt64>,
        isMixing: Bool,
        _ scratch: UnsafeMutablePointer<UInt64>
    ) {
        let kept = scratch + words
        for index in 0..<words {
            let word = left[index] ^ right[index]
            scratch[index] = word
            kept[index] = isMixing ? word ^ target[index] : word
        }
        for row in 0..<8 { permute(scratch + 16 * row, 2) }
        for column in 0..<8 { permute(scratch + 2 * column, 16) }
        for index in 0..<words { target[index] = scratch[index] ^ kept[index] }
    }

    /// Applies the permutation P to eight pairs of words at a distance of `stride`.
    @inline(__always)
    private static func permute(_ words: UnsafeMutablePointer<UInt64>, _ stride: Int) {
        let (p1, p2, p3) = (stride, 2 * stride, 3 * stride)
        let (p4, p5, p6, p7) = (4 * stride, 5 * stride, 6 * stride, 7 * stride)
        var (v0, v1, v2, v3) = (words[0], words[1], words[p1], words[p1 + 1])
        var (v4, v5, v6, v7) = (words[p2], words[p2 + 1], words[p3], words[p3 + 1])
        var (v8, v9, v10, v11) = (words[p4], words[p4 + 1], words[p5], words[p5 + 1])
        var (v12, v13, v14, v15) = (words[p6], words[p6 + 1], words[p7], words[p7 + 1])
        mix(&v0, &v4, &v8, &v12)
        mix(&v1, &v5, &v9, &v13)
        mix(&v2, &v6, &v10, &v14)
        mix(&v3, &v7, &v11, &v15)
        mix(&v0, &v5, &v10, &v15)
        mix(&v1, &v6, &v11, &v12)
        mix(&v2, &v7, &v8, &v13)
        mix(&v3, &v4, &v9, &v14)
        (words[0], words[1], words[p1], words[p1 + 1]) = (v0, v1, v2, v3)
        (words[p2], words[p2 + 1], words[p3], words[p3 + 1]) = (v4, v5, v6, v7)
        (words[p4], words[p4 + 1], words[p5], words[p5 + 1]) = (v8, v9, v10, v11)
        (words[p6], words[p6 + 1], words[p7], words[p7 + 1]) = (v12, v13, v14, v15)
    }

    @inline(__always)
    private static func mix(
        _ a: inout UInt64,
        _ b: inout UInt64,
        _ c: inout UInt64,
        _ d: inout UInt64
    ) {
        a = sum(a, b)
        d = rotated(d ^ a, 32)
        c = sum(c, d)
        b = rotated(b ^ c, 24)
        a = sum(a, b)
        d = rotated(d ^ a, 16)
        c = sum(c, d)
        b = rotated(b ^ c, 63)
    }

    /// Returns BLAKE2b's addition with a product of the lower halves.
    @inline(__always)
    private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
        left &+ right &+ 2 &* (left & 0xFFFF_FFFF) &* (right & 0xFFFF_FFFF)
    }

    @inline(__always)
    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word &>> count | word &<< (64 &- count)
    }
}
