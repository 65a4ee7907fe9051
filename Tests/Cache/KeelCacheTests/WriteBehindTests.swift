import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelCache

@Suite("Write-behind to a slow tier", .timeLimit(.minutes(5)))
struct WriteBehindTests {
    /// A tier whose writes wait at a gate.
    private final class SlowTier: CacheTier {
        let base = InMemoryCacheTier(byteLimit: 256 << 20)
        let gate = Gate()
        private let counts = Mutex<(writes: Int, bytes: Int)>((0, 0))

        var writeCount: Int { counts.withLock { $0.writes } }
        var byteCount: Int { counts.withLock { $0.bytes } }

        func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
            try await base.read(key)
        }

        func write(_ records: [CacheRecord]) async throws(CacheError) {
            _ = try? await gate.pass()
            counts.withLock { counts in
                counts.writes += records.count
                counts.bytes += records.reduce(0) { $0 + $1.body.count }
            }
            try await base.write(records)
        }

        func remove(_ selection: CacheSelection) async throws(CacheError) {
            try await base.remove(selection)
        }

        func flush() async throws(CacheError) {}
        func makeFile() async throws(CacheError) -> (any CacheFileWriter)? { nil }
        func usage() async throws(CacheError) -> CacheTierUsage { try await base.usage() }
    }

    private func cache(_ tier: any CacheTier, _ name: String = "test") -> Cache<Int, [UInt8]> {
        Cache(over: tier, name: name, coding: .bytes, CacheConfiguration(limits: .count(100)))
    }

    @Test("Waiting values are limited in bytes, and no older value is found in their place")
    func boundsBytes() async throws {
        let tier = SlowTier()
        let old = cache(tier.base)
        for key in 0..<48 { await old.set([1], for: key) }
        let cache = cache(tier)
        for key in 0..<48 {
            cache.setSynchronously([UInt8](repeating: 2, count: 1 << 20), for: key)
        }
        tier.gate.open()
        try await cache.flush()
        #expect(tier.byteCount <= TierQueue.byteLimit)
        #expect(tier.writeCount >= 31)
        let next = self.cache(tier)
        var found = 0
        for key in 0..<48 {
            #expect(cache.peek(key)?.count == 1 << 20)
            guard let value = await next.get(key) else { continue }
            #expect(value.count == 1 << 20)
            found += 1
        }
        #expect(found == tier.writeCount)
        // Writes while there is room reach the tier again.
        cache.setSynchronously([3], for: 47)
        try await cache.flush()
        #expect(await self.cache(tier).get(47) == [3])
    }

    @Test("Small waiting values are limited too: a tier too far behind loses entries of that cache")
    func boundsCounts() async throws {
        let tier = SlowTier()
        let old = cache(tier.base)
        for key in 0..<1000 { await old.set([1], for: key) }
        for key in 0..<3 { await self.cache(tier.base, "other").set([6], for: key) }
        let cache = cache(tier)
        // The first is being written; the large ones fill the queue behind it.
        cache.setSynchronously([2], for: -1)
        try await waitUntil { tier.gate.begunCount == 1 }
        let large = [UInt8](repeating: 2, count: 1 << 20)
        for key in 0..<40 { cache.setSynchronously(large, for: 1_000_000 + key) }
        for key in 0..<100_000 { cache.setSynchronously([3], for: key) }
        let queue = try #require(cache.lower?.queue)
        // The writes that fit, as many removals as allowed, and one removal of all entries.
        #expect(queue.waitingCount < 2 * TierQueue.removalLimit)
        // A value with a waiting caller still reaches the tier, in order.
        let waiting = Task { await cache.set([4], for: 7) }
        try await waitUntil { cache.peek(7) == [4] }
        for key in 100_000..<110_000 { cache.setSynchronously([5], for: key) }
        tier.gate.open()
        await waiting.value
        try await cache.flush()
        let next = self.cache(tier)
        for key in 0..<1000 where key != 7 { #expect(await next.get(key) == nil) }
        let other = self.cache(tier.base, "other")
        for key in 0..<3 { #expect(await other.get(key) == [6]) }
    }

    @Test("Only the last value of a key is written, in its order among removals")
    func keepsLast() async throws {
        let tier = SlowTier()
        let cache = cache(tier)
        cache.setSynchronously([0], for: 0)
        try await waitUntil { tier.gate.begunCount == 1 }
        for round in 0..<10_000 { cache.setSynchronously([UInt8(round % 251)], for: 1) }
        cache.setSynchronously([1], for: 2, tags: ["old"])
        let removal = Task { try await cache.removeAll(tagged: "old") }
        try await waitUntil { cache.peek(2) == nil }
        cache.setSynchronously([2], for: 2, tags: ["old"])
        cache.setSynchronously([9], for: 1)
        tier.gate.open()
        try await removal.value
        try await cache.flush()
        #expect(tier.writeCount <= 5)
        let next = self.cache(tier)
        #expect(await next.get(1) == [9])
        #expect(await next.get(2) == [2])
    }
}
