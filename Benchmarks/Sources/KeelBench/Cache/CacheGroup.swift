import Foundation

/// The cache, compared with dictionaries, an actor, NSCache and SQLite.
///
/// Documentation/Benchmarks.md has the targets.
enum CacheGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let (keys, reads) = (options.isQuick ? 512 : 16_384, options.scaled(1_000_000))
        let numbers = Lazily { HitPair((0..<keys).map(Draws.number), reads: reads) }
        let texts = Lazily { HitPair((0..<keys).map(Draws.text), reads: reads) }
        return [
            numberHit(numbers),
            textHit(texts),
            twoThreads(numbers),
            twoThreads(texts),
            expiringHit(numbers),
            awaitedHit(numbers),
            awaitedByTwo(numbers),
            objectHit(texts),
            insertion(options),
            staleHit(options),
        ] + disk(options) + ratios(options)
    }
}

/// The keys to read, in order: a few often, many rarely.
enum Draws {
    /// Draws ranks by Zipf's law with an exponent of 0.99, as in YCSB.
    static func ranks(_ count: Int, of keys: Int) -> [Int] {
        var sum = 0.0
        let sums = (1...keys).map { rank -> Double in
            sum += pow(Double(rank), -0.99)
            return sum
        }
        var generator = Generator(seed: 99)
        return (0..<count).map { _ in
            let point = Double(generator.next() >> 11) * 0x1p-53 * sum
            var (low, high) = (0, keys - 1)
            while low < high {
                let middle = (low + high) / 2
                if sums[middle] > point { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }

    /// Returns the key of a rank; frequently read keys are not adjacent.
    static func number(_ rank: Int) -> Int { (rank &* 0x9E37_79B1) & 0xFFFF_FFFF }

    /// Returns the same as a key of 30 bytes.
    static func text(_ rank: Int) -> String {
        "restaurants/berlin/" + String(10_000_000_000 + number(rank))
    }
}
