import KeelCache
import KeelTestSupport
import Synchronization
import Testing

@Suite("Caches in memory", .timeLimit(.minutes(1)))
struct CacheTests {
    @Test("A cache keeps values of any Sendable type, without Codable")
    func keepsAnything() async throws {
        let cache = Cache<Int, @Sendable () -> Int>()
        await cache.set({ 42 }, for: 1)
        #expect(cache.peek(1)?() == 42)
        #expect(await cache.get(1)?() == 42)
        #expect(cache.peek(2) == nil)
    }

    @Test("Entries can be replaced and removed, and the cache can be emptied")
    func changes() async throws {
        let cache = Cache<String, Int>()
        await cache.set(1, for: "a")
        await cache.set(2, for: "a")
        cache.setSynchronously(3, for: "b")
        #expect(cache.peek("a") == 2)
        #expect(cache.count == 2)
        try await cache.remove("a")
        try await cache.remove("missing")
        #expect(cache.peek("a") == nil)
        #expect(cache.contains("b") && !cache.contains("a"))
        try await cache.removeAll()
        #expect(cache.count == 0 && cache.peek("b") == nil)
        await cache.set(4, for: "b")
        #expect(cache.peek("b") == 4)
    }

    @Test("The number of entries never exceeds the limit", arguments: [1, 7, 1_000, 5_000])
    func countLimit(_ limit: Int) async {
        let cache = Cache<Int, Int>(CacheConfiguration(limits: .count(limit)))
        for key in 0..<(3 * limit + 10) {
            await cache.set(key, for: key)
            #expect(cache.count <= limit)
        }
        #expect(cache.count == limit || limit == 5_000 && cache.count > 4_500)
        #expect(cache.statistics.evictions >= 2 * limit + 10)
    }

    @Test("The total cost never exceeds the limit, however much entries cost")
    func costLimit() async {
        let cache = Cache<Int, Int>(
            CacheConfiguration(limits: CacheLimits(count: 100, cost: 1_000)),
            cost: { $0 }
        )
        for round in 0..<2_000 {
            await cache.set(round * 37 % 400, for: round % 150)
            #expect(cache.cost <= 1_000)
            #expect(cache.count <= 100)
        }
        #expect(cache.count > 0)
    }

    @Test("The limits hold while several tasks write and others read")
    func limitsUnderContention() async {
        let cache = Cache<Int, Int>(
            CacheConfiguration(limits: CacheLimits(count: 64, cost: 640)),
            cost: { $0 }
        )
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    for round in 0..<5_000 {
                        cache.setSynchronously(round % 20, for: (round &* 31 &+ task &* 7) % 500)
                    }
                }
                group.addTask {
                    for _ in 0..<5_000 {
                        #expect(cache.count <= 64)
                        #expect(cache.cost <= 640)
                    }
                }
            }
        }
    }

    @Test("An entry beyond the cost limit is rejected, and the entry under its key is removed")
    func refuses() async {
        let cache = Cache<Int, String>(CacheConfiguration(limits: .cost(10)), cost: { $0.count })
        await cache.set("small", for: 1)
        await cache.set("other", for: 2)
        await cache.set("much too large", for: 1)
        #expect(cache.peek(1) == nil)
        #expect(cache.peek(2) == "other")
        #expect(cache.statistics.rejections == 1)
        #expect(cache.cost == 5)
    }

    @Test("An entry may cost nothing, and a negative cost counts as zero")
    func free() async {
        let cache = Cache<Int, Int>(CacheConfiguration(limits: .cost(2)))
        for key in 0..<10 { await cache.set(key, for: key, cost: key % 2 == 0 ? 0 : -5) }
        #expect(cache.count == 10 && cache.cost == 0)
    }

    @Test(
        "The limits of the shards add up to the whole limit",
        arguments: [1, 2_047, 2_048, 10_007, 100_000]
    )
    func divides(_ limit: Int) async {
        let cache = Cache<Int, Int>(CacheConfiguration(limits: .count(limit)))
        for key in 0..<(2 * limit) { cache.setSynchronously(key, for: key) }
        #expect(cache.count <= limit)
        #expect(cache.count > limit * 9 / 10)
    }

    @Test("Values are released outside the lock and may use the cache")
    func diesOutside() async throws {
        final class Guest: Sendable {
            let cache: Cache<Int, Guest>
            let deaths: Atomic<Int>?
            let last: @Sendable () -> Void
            init(_ cache: Cache<Int, Guest>, _ last: @escaping @Sendable () -> Void) {
                self.cache = cache
                self.last = last
                deaths = nil
            }
            deinit {
                _ = cache.peek(1)
                _ = cache.count
                last()
            }
        }
        let deaths = Mutex(0)
        let cache = Cache<Int, Guest>(CacheConfiguration(limits: .count(2)))
        for key in 0..<10 {
            await cache.set(Guest(cache) { deaths.withLock { $0 += 1 } }, for: key % 4)
        }
        try await cache.remove(1)
        try await cache.removeAll()
        #expect(deaths.withLock { $0 } == 10)
    }

    @Test("Events report what happened to entries")
    func events() async throws {
        let cache = Cache<Int, Int>(CacheConfiguration(limits: .count(2)))
        var events = cache.events().makeAsyncIterator()
        await cache.set(1, for: 1)
        await cache.set(2, for: 1)
        await cache.set(3, for: 2)
        try await cache.remove(1)
        guard case .replaced = await events.next()?.reason
        else { return fail("a replacement was not told") }
        let removed = await events.next()
        #expect(removed?.key == 1)
        guard case .removed = removed?.reason else { return fail("a removal was not told") }
        await cache.set(4, for: 4)
        await cache.set(5, for: 5)
        guard case .evicted = await events.next()?.reason
        else { return fail("an eviction was not told") }
    }

    @Test("A slow reader of events loses the oldest and uses no more memory")
    func boundedEvents() async throws {
        let cache = Cache<Int, Int>()
        let events = cache.events(keeping: 3)
        for key in 0..<100 {
            await cache.set(key, for: key)
            try await cache.remove(key)
        }
        var iterator = events.makeAsyncIterator()
        var keys: [Int?] = []
        for _ in 0..<3 { keys.append(await iterator.next()?.key) }
        #expect(keys == [97, 98, 99])
    }

    @Test("Hits and misses are counted")
    func counts() async {
        let cache = Cache<Int, Int>()
        await cache.set(1, for: 1)
        _ = cache.peek(1)
        _ = await cache.get(1)
        _ = cache.peek(2)
        _ = await cache.get(2)
        #expect(cache.statistics.hits == 2)
        #expect(cache.statistics.misses == 2)
        #expect(cache.statistics.hitRatio == 0.5)
    }
}
