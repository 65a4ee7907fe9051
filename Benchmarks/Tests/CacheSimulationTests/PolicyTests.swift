import Testing

@testable import CacheSimulation

@Suite("Simulated cache policies")
struct PolicyTests {
    private func trace(_ keys: [Int]) -> Trace {
        var trace = Trace(name: "test")
        for key in keys { trace.append(UInt64(key)) }
        return trace
    }

    private func hits(_ policy: PolicyName, _ keys: [Int], _ capacity: Int) -> Int {
        Int((policy.hitRatio(on: trace(keys), capacity: capacity) * Double(keys.count)).rounded())
    }

    @Test("LRU evicts the least recently used entry, and FIFO the oldest")
    func simple() {
        #expect(hits(.lru, [1, 2, 1, 3, 1, 2], 2) == 2)
        #expect(hits(.fifo, [1, 2, 1, 3, 1, 2], 2) == 1)
    }

    @Test("The optimum does not admit keys that recur too late")
    func optimal() {
        // Worked out by hand: 1 stays throughout; 2 and 3 alternate with keys that never return, so 2 stays.
        #expect(hits(.optimal, [1, 2, 3, 1, 2, 3, 1, 2, 3], 2) == 4)
        #expect(hits(.optimal, [1, 2, 3, 4, 1], 1) == 1)
    }

    @Test("Keys that all fit are hit from the second access on", arguments: PolicyName.allCases)
    func fits(_ policy: PolicyName) {
        let keys = (0..<400).map { $0 % 40 }
        #expect(hits(policy, keys, 100) == 360)
    }

    @Test("No policy beats the optimum", arguments: PolicyName.allCases)
    func isBelowOptimum(_ policy: PolicyName) {
        var random = MixRandom(seed: 9)
        for capacity in [1, 2, 7, 30] {
            let keys = (0..<3000).map { _ in random.below(60) * random.below(60) / 30 }
            #expect(hits(policy, keys, capacity) <= hits(.optimal, keys, capacity))
        }
    }

    @Test("A mix is the same for the same seed")
    func repeats() throws {
        let mix = try #require(SyntheticMix.small.last)
        #expect(mix.trace(seed: 3).keys == mix.trace(seed: 3).keys)
        #expect(mix.trace(seed: 3).keys != mix.trace(seed: 4).keys)
    }

    @Test("A shortened mix starts like the whole one")
    func shortens() throws {
        let mix = try #require(SyntheticMix.small.last)
        let keys = mix.shortened(to: 500).trace().keys
        #expect(keys.count == 500)
        #expect(keys[...] == mix.trace().keys[..<500])
    }

    @Test("Drawn mixes are the same for the same seed, with sizes that every policy can simulate")
    func draws() {
        func traces(_ seed: UInt64) -> [[Int32]] {
            SyntheticMix.drawn(4, seed: seed).map { Array($0.shortened(to: 200).trace().keys) }
        }
        #expect(traces(5) == traces(5))
        #expect(traces(5) != traces(6))
        let sizes = SyntheticMix.drawn(30, seed: 5).flatMap(\.sizes)
        #expect(sizes.allSatisfy { (200...8_000).contains($0) })
    }

    @Test("A policy is compared with the best of others in each row")
    func comparesWithBest() throws {
        let mix = try #require(SyntheticMix.small.first { $0.name == "loop" })
        let comparison = MixComparison([mix], policies: [.fifo, .fixed])
        let best = comparison.rows.map { max($0.ratios[.fifo] ?? 0, $0.ratios[.fixed] ?? 0) }
        let parts = zip(comparison.rows, best).map { ($0.ratios[.keel] ?? 0) / $1 }
        let mean = comparison.mean(.keel, ofBestAmong: [.fifo, .fixed])
        #expect(abs(mean - parts.reduce(0, +) / Double(parts.count)) < 1e-9)
        #expect(comparison.mean(.optimal) >= comparison.mean(.keel))
    }

    @Test("A comparison has a row for each size and a table")
    func compares() throws {
        let mix = try #require(SyntheticMix.small.first { $0.name == "loop" })
        let comparison = MixComparison([mix], policies: [.lru])
        #expect(comparison.rows.map(\.size) == mix.sizes)
        #expect(comparison.meanOfOptimal(.optimal) == 1)
        #expect(comparison.meanOfOptimal(.keel) > 0.9)
        #expect(comparison.rows.allSatisfy { $0.lossToLRU < 1 })
        #expect(comparison.table.contains("| loop | 512 |"))
    }
}
