/// A random number generator for synthetic traces, with the same numbers for a seed on every platform.
struct MixRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return HashMix.mix(state)
    }

    /// Returns a number from 0 to below 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }
}
