import KeelTestKit

/// Streams of keys for tests of the policy; the benchmarks have larger ones.
enum PolicyStream {
    /// A few keys often, many rarely.
    static func zipf(skew exponent: Int = 1, keys: Int, count: Int, seed: UInt64) -> [Int] {
        var random = SeededRandom(seed: seed)
        var sum = 0.0
        let sums = (1...keys).map { rank -> Double in
            sum += (0..<exponent).reduce(1.0) { part, _ in part / Double(rank) }
            return sum
        }
        return (0..<count).map { _ in
            let point = Double.random(in: 0..<sum, using: &random)
            var (low, high) = (0, keys - 1)
            while low < high {
                let middle = (low + high) / 2
                if sums[middle] > point { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }

    /// The same keys repeatedly.
    static func loop(keys: Int, count: Int) -> [Int] { (0..<count).map { 1_000_000 + $0 % keys } }

    /// New keys, each used once more after at most `span` others.
    static func recent(span: Int, count: Int, seed: UInt64) -> [Int] {
        var random = SeededRandom(seed: seed)
        var keys: [Int] = []
        var due: [Int: Int] = [:]
        for step in 0..<count {
            if let key = due.removeValue(forKey: step) {
                keys.append(key)
            } else {
                keys.append(2_000_000 + step)
                due[step + 1 + Int.random(in: 0..<span, using: &random)] = 2_000_000 + step
            }
        }
        return keys
    }

    /// Keys from two streams in turn.
    static func mixed(_ first: [Int], _ second: [Int]) -> [Int] {
        zip(first, second).flatMap { [$0, $1] }
    }
}

/// A cache of keys, for counting hits.
protocol PolicyCache { mutating func access(_ key: Int) -> Bool }

extension PolicyCache {
    /// Returns the fraction of the keys that were present, from 0 to 1.
    mutating func hitRatio(_ keys: [Int]) -> Double {
        Double(keys.count { access($0) }) / Double(keys.count)
    }
}

/// A simple, slow LRU cache for comparison.
struct NaiveLRU: PolicyCache {
    let capacity: Int
    private var lastUses: [Int: Int] = [:]
    private var keys: [Int: Int] = [:]
    private var step = 0
    private var oldest = 0

    init(capacity: Int) { self.capacity = capacity }

    mutating func access(_ key: Int) -> Bool {
        defer { step += 1 }
        let last = lastUses.updateValue(step, forKey: key)
        keys[step] = key
        if let last { keys[last] = nil }
        while lastUses.count > capacity {
            if let victim = keys.removeValue(forKey: oldest) { lastUses[victim] = nil }
            oldest += 1
        }
        return last != nil
    }
}
