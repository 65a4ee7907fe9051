internal import Foundation

/// A random number generator with a seed, so that a failure can be repeated (SplitMix64).
///
/// The algorithm is that of G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators" (OOPSLA
/// 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator; equal seeds give equal numbers.
    public init(seed: UInt64) { state = seed }

    /// Returns the seed in the environment variable `KEEL_SEED`, or a random one.
    public static func chosenSeed() -> UInt64 {
        let given = ProcessInfo.processInfo.environment["KEEL_SEED"].flatMap { UInt64($0) }
        return given ?? UInt64.random(in: 1...9_999_999_999)
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension SeededGenerator {
    /// Returns true with a probability of `count` in `total`.
    mutating func hits(_ count: Int, in total: Int) -> Bool {
        Int.random(in: 0..<total, using: &self) < count
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &self)]
    }
}
