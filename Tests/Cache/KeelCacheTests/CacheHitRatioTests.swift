import KeelCache
import Testing

/// The policy sees only a sample of a cache's reads, and only those of one shard.
@Suite("Hit ratios of whole caches", .timeLimit(.minutes(10)))
struct CacheHitRatioTests {
    private func read(_ keys: some Sequence<Int>, of cache: Cache<Int, Int>) -> Double {
        let before = cache.statistics
        for key in keys where cache.peek(key) == nil { cache.setSynchronously(key, for: key) }
        let after = cache.statistics
        let (hits, misses) = (after.hits - before.hits, after.misses - before.misses)
        return Double(hits) / Double(hits + misses)
    }

    @Test("After many hits, keys that are read once evict few others")
    func survivesScan() {
        let cache = Cache<Int, Int>(CacheConfiguration(limits: .count(1_000)))
        for _ in 0..<100 { _ = read(0..<800, of: cache) }
        _ = read(10_000..<20_000, of: cache)
        let left = (0..<800).count { cache.contains($0) }
        #expect(left >= 720, "\(left) of 800 are left")
    }

    @Test("A new set of keys that is read repeatedly replaces the old one")
    func followsTheLoad() {
        let cache = Cache<Int, Int>(CacheConfiguration(limits: .count(1_000)))
        for _ in 0..<100 { _ = read(0..<800, of: cache) }
        for _ in 0..<40 { _ = read(10_000..<10_800, of: cache) }
        let ratio = read(10_000..<10_800, of: cache)
        #expect(ratio >= 0.9)
    }

    @Test("The shards of a cache together find the window for keys that are reused soon")
    func shardsFindWindow() {
        let cache = Cache<Int, Int>(CacheConfiguration(limits: .count(4_096)))
        _ = read(PolicyStream.recent(span: 3_000, count: 100_000, seed: 1), of: cache)
        let ratio = read(PolicyStream.recent(span: 3_000, count: 50_000, seed: 2), of: cache)
        // Half of the keys are new; with the initial window the ratio would be a tenth of this.
        #expect(ratio >= 0.4)
    }

    @Test("The shards of a cache keep part of a loop that exceeds their limit")
    func shardsKeepLoop() {
        let cache = Cache<Int, Int>(CacheConfiguration(limits: .count(4_096)))
        _ = read(PolicyStream.loop(keys: 6_000, count: 60_000), of: cache)
        let ratio = read(PolicyStream.loop(keys: 6_000, count: 30_000), of: cache)
        #expect(ratio >= 0.5)
    }
}
