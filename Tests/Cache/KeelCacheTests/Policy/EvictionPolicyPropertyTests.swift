import KeelTestKit
import Testing

@testable import KeelCache

@Suite("Bookkeeping of the eviction policy")
struct EvictionPolicyPropertyTests {
    struct Limits: CustomTestStringConvertible {
        var count: Int?
        var cost: Int?
        var testDescription: String { "count \(count ?? -1), cost \(cost ?? -1)" }
    }

    static let limits = [
        Limits(), Limits(count: 0), Limits(count: 1), Limits(count: 2), Limits(count: 17),
        Limits(count: 300), Limits(count: 2000), Limits(cost: 0), Limits(cost: 1),
        Limits(cost: 1000), Limits(cost: 40_000), Limits(count: 50, cost: 1000),
        Limits(count: 200, cost: 100_000),
    ]

    @Test("After any calls, limits hold, slots are unique and sums are exact", arguments: limits)
    func keepsBooks(_ limits: Limits) {
        for seed in UInt64(1)...3 {
            var random = SeededRandom(seed: seed)
            var table = PolicyTable(countLimit: limits.count, costLimit: limits.cost, seed: seed)
            for step in 0..<4000 {
                let key =
                    Int.random(in: 0..<3000, using: &random)
                    >> Int.random(in: 0...6, using: &random)
                let cost = Int.random(in: 0...(key % 11 == 0 ? 1200 : 20), using: &random)
                switch Int.random(in: 0..<20, using: &random) {
                case 0: table.remove(key)
                case 1: table.setCost(key, cost)
                default: _ = table.access(key, cost: cost)
                }
                if step % 50 == 0 { table.checkBooks() }
            }
            table.checkBooks()
            #expect(table.flaw == nil, "seed \(seed)")
        }
    }

    @Test("Equal seeds and calls give equal victims", arguments: [nil, 3000])
    func isDeterministic(costLimit: Int?) {
        func victims() -> [Int] {
            var table = PolicyTable(countLimit: 200, costLimit: costLimit, seed: 5)
            for key in PolicyStream.zipf(keys: 2000, count: 10_000, seed: 3) {
                _ = table.access(key, cost: key % 30)
            }
            return table.victims
        }
        let first = victims()
        #expect(!first.isEmpty)
        #expect(first == victims())
    }
}
