import KeelCache
import KeelTestKit
import Testing

@Suite("Policies of loading", .timeLimit(.minutes(1)))
struct PolicyTests {
    struct Refusal: Error {}

    private let clock = TestClock()
    private let cache: Cache<String, Int>
    private let gate = Gate()

    init() {
        let refreshing = CachePolicy.cacheFirst.refreshingAhead(after: 0.5)
        cache = Cache(
            CacheConfiguration(expiry: .seconds(10), staleness: .seconds(60), policy: refreshing),
            clock: .following(clock)
        )
    }

    private func ask(_ policy: CachePolicy, _ load: @escaping @Sendable () async throws -> Int)
        async throws -> Int
    {
        try await cache.value(for: "a", policy: policy, load: load)
    }

    @Test("A stale value is no value for a plain read")
    func staleIsNotFresh() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(10))
        #expect(cache.peek("a") == nil)
        #expect(await cache.get("a") == nil)
        #expect(!cache.contains("a"))
        #expect(try await ask(.cacheFirst) { 2 } == 2)
    }

    @Test("Stale while revalidate answers at once and loads one new value behind")
    func revalidates() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(20))
        for _ in 0..<10 {
            let value = try await ask(.staleWhileRevalidate) { [gate] in
                try await gate.pass()
                return 2
            }
            #expect(value == 1)
        }
        try await waitUntil { gate.begunCount == 1 }
        gate.open()
        try await waitUntil { cache.peek("a") == 2 }
        #expect(gate.begunCount == 1)
        #expect(cache.statistics.staleHits == 10)
    }

    @Test("A stale value is counted as a miss, and a failed load behind it lets the next one begin")
    func revalidatesAgain() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(20))
        let failing = Gate()
        for _ in 0..<3 {
            let value = try await ask(.staleWhileRevalidate) {
                try await failing.pass()
                throw Refusal()
            }
            #expect(value == 1)
            try await waitUntil { failing.begunCount == 1 }
        }
        let statistics = cache.statistics
        #expect((statistics.hits, statistics.misses, statistics.staleHits) == (0, 3, 3))
        failing.open()
        // Whether a new load starts depends on when the old one ended.
        try await waitUntil { try await ask(.staleWhileRevalidate, { 2 }) != 1 }
        #expect(failing.begunCount == 1)
        #expect(cache.statistics.loads == 2)
    }

    @Test("A stale value that is removed is not returned, even while it is being loaded anew")
    func removedWhileRevalidating() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(20))
        let load: @Sendable () async throws -> Int = { [gate] in
            try await gate.pass()
            return 2
        }
        #expect(try await ask(.staleWhileRevalidate, load) == 1)
        try await waitUntil { gate.begunCount == 1 }
        #expect(try await ask(.staleWhileRevalidate, load) == 1)
        try await cache.remove("a")
        #expect(try await ask(.staleWhileRevalidate) { 3 } == 3)
        gate.open()
        try await waitUntil { cache.statistics.supersededLoads == 1 }
        #expect(cache.peek("a") == 3)
    }

    @Test("After its staleness a value does not stand in any more")
    func staleEnds() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(70))
        #expect(try await ask(.staleWhileRevalidate) { 2 } == 2)
        await clock.advance(by: .seconds(70))
        await #expect(throws: Refusal.self) { try await ask(.staleIfError) { throw Refusal() } }
    }

    @Test("Stale if error stands in for a failed load, and a fresh value is not loaded")
    func servesStaleOnError() async throws {
        await cache.set(1, for: "a")
        #expect(try await ask(.staleIfError) { throw Refusal() } == 1)
        await clock.advance(by: .seconds(20))
        #expect(try await ask(.staleIfError) { throw Refusal() } == 1)
        #expect(try await ask(.staleIfError) { 3 } == 3)
        await #expect(throws: Refusal.self) { try await ask(.refresh) { throw Refusal() } }
    }

    @Test("What was removed during a failing load does not stand in")
    func removalBeatsStaleness() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(20))
        await #expect(throws: Refusal.self) {
            try await ask(.staleIfError) { [cache] in
                try await cache.remove("a")
                throw Refusal()
            }
        }
        await cache.set(2, for: "a", tags: ["t"])
        await clock.advance(by: .seconds(20))
        await #expect(throws: Refusal.self) {
            try await ask(.staleIfError) { [cache] in
                try await cache.removeAll(tagged: "t")
                throw Refusal()
            }
        }
    }

    @Test("Load first loads, and falls back to what is cached")
    func loadFirst() async throws {
        await cache.set(1, for: "a")
        #expect(try await ask(.loadFirst) { 2 } == 2)
        #expect(try await ask(.loadFirst) { throw Refusal() } == 2)
        #expect(try await ask(.refresh) { 3 } == 3)
        #expect(cache.peek("a") == 3)
    }

    @Test("Cache only never loads")
    func cacheOnly() async throws {
        let error = await #expect(throws: CacheError.self) { try await ask(.cacheOnly) { 1 } }
        #expect(error?.code == .notCached)
        #expect(cache.statistics.loads == 0)
        await cache.set(5, for: "a")
        #expect(try await ask(.cacheOnly) { 1 } == 5)
    }

    @Test("Most of a value's freshness being over, its use loads the next one behind")
    func refreshesAhead() async throws {
        await cache.set(1, for: "a")
        #expect(try await cache.value(for: "a") { 2 } == 1)
        await clock.advance(by: .seconds(5))
        #expect(try await cache.value(for: "a") { 2 } == 1)
        try await waitUntil { cache.peek("a") == 2 }
        await clock.advance(by: .seconds(9))
        #expect(cache.peek("a") == 2)
    }

    @Test("A soft limit returns the stale value, and loading goes on")
    func softTimeout() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(20))
        let caller = Task { [cache, gate] in
            try await cache.value(
                for: "a",
                policy: .cacheFirst.softTimeout(.milliseconds(100))
            ) {
                try await gate.pass()
                return 2
            }
        }
        try await waitUntil { gate.begunCount == 1 }
        await clock.waitForSleepers()
        await clock.advance(by: .milliseconds(100))
        #expect(try await caller.value == 1)
        #expect(gate.cancelledCount == 0)
        gate.open()
        try await waitUntil { cache.peek("a") == 2 }
        #expect(gate.begunCount == 1)
    }

    @Test("A hard limit throws, and ends a load for which nobody else waits")
    func hardTimeout() async throws {
        let caller = Task { [cache, gate] in
            try await cache.value(for: "a", policy: .cacheFirst.hardTimeout(.seconds(1))) {
                try await gate.pass()
                return 2
            }
        }
        try await waitUntil { gate.begunCount == 1 }
        await clock.waitForSleepers()
        await clock.advance(by: .seconds(1))
        let error = await #expect(throws: CacheError.self) { try await caller.value }
        #expect(error?.code == .timeout)
        try await waitUntil { gate.cancelledCount == 1 }
        #expect(cache.waiterCount == 0)
    }

    @Test(
        "A stale value stands in for a load that exceeds its hard limit, where errors are survived"
    )
    func hardTimeoutSurvived() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(20))
        let caller = Task { [cache, gate] in
            try await cache.value(for: "a", policy: .staleIfError.hardTimeout(.seconds(1))) {
                try await gate.pass()
                return 2
            }
        }
        try await waitUntil { gate.begunCount == 1 }
        await clock.waitForSleepers()
        await clock.advance(by: .seconds(1))
        #expect(try await caller.value == 1)
    }

    @Test("Within its limits a load is returned as without them")
    func withinLimits() async throws {
        let policy = CachePolicy.cacheFirst.softTimeout(.seconds(1)).hardTimeout(.seconds(2))
        #expect(try await ask(policy) { 4 } == 4)
        await #expect(throws: Refusal.self) {
            try await ask(.refresh.hardTimeout(.seconds(2))) { throw Refusal() }
        }
        #expect(clock.sleeperCount == 0)
    }
}
