import KeelTestKit
import Testing

@testable import KeelCache

@Suite("The eviction policy")
struct EvictionPolicyTests {
    @Test("Without limits, nothing is evicted, and count and cost are tracked")
    func isUnbounded() {
        var policy = EvictionPolicy(countLimit: nil, costLimit: nil, seed: 1)
        let slots = (0..<100).map { policy.insert(hash: UInt64($0), cost: 3) }
        #expect(slots == Array(0..<100))
        for slot in slots { policy.touch(slot) }
        #expect(policy.nextVictim() == nil)
        #expect((policy.count, policy.cost) == (100, 300))
    }

    @Test("A free slot is reused before a new one")
    func reusesSlots() {
        var policy = EvictionPolicy(countLimit: 10, costLimit: nil, seed: 1)
        for hash in UInt64(0)..<5 { _ = policy.insert(hash: hash, cost: 1) }
        policy.remove(2)
        policy.remove(4)
        #expect(Set([policy.insert(hash: 7, cost: 1), policy.insert(hash: 8, cost: 1)]) == [2, 4])
        #expect(policy.insert(hash: 9, cost: 1) == 5)
    }

    @Test("An entry that costs more than the limit is rejected without evicting others")
    func refusesOversize() {
        var policy = EvictionPolicy(countLimit: nil, costLimit: 100, seed: 1)
        for hash in UInt64(0)..<10 { _ = policy.insert(hash: hash, cost: 10) }
        #expect(policy.nextVictim() == nil)
        let slot = policy.insert(hash: 99, cost: 101)
        #expect(policy.nextVictim() == slot)
        #expect(policy.nextVictim() == nil)
        policy.setCost(3, 101)
        #expect(policy.nextVictim() == 3)
        #expect(policy.nextVictim() == nil)
        #expect((policy.count, policy.cost) == (9, 90))
    }

    @Test("Keys used once do not evict keys used often")
    func resistsScans() {
        var table = PolicyTable(countLimit: 100)
        for _ in 0..<10 {
            for key in 0..<80 { _ = table.access(key) }
        }
        for key in 1000..<3000 { _ = table.access(key) }
        let left = (0..<80).count { table.slots[$0] != nil }
        #expect(left >= 78, "\(left) of 80 are left")
    }

    @Test("Small entries displace a large one that is used equally often")
    func prefersHitsToBytes() {
        var table = PolicyTable(countLimit: nil, costLimit: 1000)
        var random = SeededRandom(seed: 4)
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<200, using: &random)
            _ = table.access(key, cost: key < 100 ? 10 : 100)
        }
        let small = table.slots.keys.count { $0 < 100 }
        #expect(small >= 80, "\(small) of 100 small entries are there")
    }

    @Test("The window shrinks for a loop and grows for keys that are reused soon")
    func adaptsWindow() {
        var table = PolicyTable(countLimit: 400)
        _ = table.hitRatio(PolicyStream.recent(span: 300, count: 20_000, seed: 1))
        let large = table.policy.shadows.window
        _ = table.hitRatio(PolicyStream.loop(keys: 900, count: 40_000))
        let small = table.policy.shadows.window
        #expect(large >= 0.45)
        #expect(small <= 0.05)
    }

    @Test("The window also adapts in a cache with sampled keys")
    func samples() {
        var table = PolicyTable(countLimit: 4000)
        #expect(table.policy.shadows.sampleBits == 3)
        _ = table.hitRatio(PolicyStream.recent(span: 2500, count: 60_000, seed: 1))
        table.checkBooks()
        #expect(table.flaw == nil)
        #expect(table.policy.shadows.window >= 0.25)
    }
}
