internal import Foundation

/// A generator that gives the same numbers for the same seed (SplitMix64).
///
/// Use it for tests with random input, which print their seed so that a failure can be repeated, and not for secrets.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator.
    public init(seed: UInt64) { state = seed }

    /// The seed in the environment variable `KEEL_SEED`, or a new one.
    public static func chosenSeed() -> UInt64 {
        let given = ProcessInfo.processInfo.environment["KEEL_SEED"].flatMap { UInt64($0) }
        return given ?? UInt64.random(in: 1...9_999_999_999)
    }

    /// Prints the chosen seed with the name of the test, and returns it.
    package static func printedSeed(_ test: String = #function) -> UInt64 {
        let seed = chosenSeed()
        print("KEEL_SEED=\(seed) \(test)")
        return seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
