/// Spreads numbers over 64 bits.
enum HashMix {
    /// Returns the finalizer of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
    /// 2014): a bijection on 64-bit numbers.
    static func mix(_ number: UInt64) -> UInt64 {
        var number = number &+ 0x9E37_79B9_7F4A_7C15
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }
}
