extension SyntheticMix {
    /// Returns mixes whose patterns, proportions and cache sizes are drawn at random, so that no policy can have been
    /// tuned on them.
    ///
    /// - Parameters:
    ///   - count: The number of mixes, each with two cache sizes.
    ///   - seed: Another seed than those of the comparison; equal seeds give equal mixes.
    /// - Returns: The mixes, with 200 to 8,000 entries.
    public static func drawn(_ count: Int, seed: UInt64) -> [SyntheticMix] {
        var random = MixRandom(seed: seed)
        return (1...count).map { number in
            let pattern = Pattern.drawn(using: &random)
            let sizes = [random.size(200...2_000), random.size(1_000...8_000)]
            return SyntheticMix("drawn \(number)", sizes, requests: 300_000) { pattern }
        }
    }
}

extension Pattern {
    /// Draws a pattern: one in three alone, the others mixed or one after the other.
    fileprivate static func drawn(using random: inout MixRandom) -> Pattern {
        switch random.below(3) {
        case 0: return part(using: &random)
        case 1:
            return .mixed(
                (0..<2 + random.below(3)).map { _ in (0.1 + random.unit(), part(using: &random)) }
            )
        default:
            return .phases(
                (0..<2 + random.below(2)).map { _ in
                    (random.size(5_000...150_000), part(using: &random))
                }
            )
        }
    }

    private static func part(using random: inout MixRandom) -> Pattern {
        let skew = 0.5 + 0.8 * random.unit()
        let keys = random.size(2_000...200_000)
        switch random.below(9) {
        case 0...2: return .zipf(skew: skew, keys: keys)
        case 3, 4: return .drifting(skew: skew, keys: keys, every: random.size(2...200))
        case 5, 6: return .recent(span: random.size(50...8_000), uses: 1 + random.below(4))
        case 7: return .loop(keys: random.size(300...10_000))
        default: return .mixed([(0.5, .scan), (0.5, .zipf(skew: skew, keys: keys))])
        }
    }
}

extension MixRandom {
    /// Draws a number whose logarithm is evenly distributed.
    fileprivate mutating func size(_ range: ClosedRange<Int>) -> Int {
        let factor = Double(range.upperBound) / Double(range.lowerBound)
        return min(Int(Double(range.lowerBound) * factor.power(unit())), range.upperBound)
    }
}

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
