import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelCache

@Suite("Loading policies", .timeLimit(.minutes(1)))
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

    /// Stores a value that is stale.
    private func setStale() async {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(20))
    }

    private func ask(_ policy: CachePolicy, _ load: @escaping @Sendable () async throws -> Int)
        async throws -> Int
    {
        try await cache.value(for: "a", policy: policy, load: load)
    }

    @Test("A plain read does not return a stale value")
    func staleIsNotFresh() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(10))
        #expect(cache.peek("a") == nil)
        #expect(await cache.get("a") == nil)
        #expect(!cache.contains("a"))
        #expect(try await ask(.cacheFirst) { 2 } == 2)
    }

    @Test("staleWhileRevalidate returns at once and loads one new value in the background")
    func revalidates() async throws {
        await setStale()
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

    @Test("A stale value counts as a miss, and a failed background load permits the next one")
    func revalidatesAgain() async throws {
        await setStale()
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

    @Test("A caller that is late to reload a stale value does not reload a newer one")
    func revalidatesOnce() async throws {
        await setStale()
        let stale = try #require(cache.glance("a"))
        await cache.set(2, for: "a")
        let call = LoadCall<String, Int>(
            key: "a",
            policy: .staleWhileRevalidate,
            acceptsAbsence: false,
            load: { CacheLoaded(3) }
        )
        let id = cache.begin("a")
        cache.loadBehind(call, id, stale.entry.detail)
        cache.memory.end("a")
        try await waitUntil { cache.background.count == 0 }
        #expect(cache.statistics.loads == 0)
        #expect(cache.peek("a") == 2)
    }

    @Test("A removed stale value is not returned, even while it is being reloaded")
    func removedWhileRevalidating() async throws {
        await setStale()
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

    @Test("A value is not used beyond its staleness")
    func staleEnds() async throws {
        await cache.set(1, for: "a")
        await clock.advance(by: .seconds(70))
        #expect(try await ask(.staleWhileRevalidate) { 2 } == 2)
        await clock.advance(by: .seconds(70))
        await #expect(throws: Refusal.self) { try await ask(.staleIfError) { throw Refusal() } }
    }

    @Test("staleIfError replaces a failed load and does not reload a fresh value")
    func servesStaleOnError() async throws {
        await cache.set(1, for: "a")
        #expect(try await ask(.staleIfError) { throw Refusal() } == 1)
        await clock.advance(by: .seconds(20))
        #expect(try await ask(.staleIfError) { throw Refusal() } == 1)
        #expect(try await ask(.staleIfError) { 3 } == 3)
        await #expect(throws: Refusal.self) { try await ask(.refresh) { throw Refusal() } }
    }

    @Test("A call can refresh ahead although the policy of the cache does not")
    func refreshesAheadOfOneCall() async throws {
        let configuration = CacheConfiguration(expiry: .seconds(10))
        let cache = Cache<String, Int>(configuration, clock: .following(clock))
        let ahead = CachePolicy.cacheFirst.refreshingAhead(after: 0.5)
        #expect(try await cache.value(for: "a", policy: ahead) { 1 } == 1)
        await clock.advance(by: .seconds(6))
        #expect(try await cache.value(for: "a", policy: ahead) { 2 } == 1)
        try await waitUntil { cache.peek("a") == 2 }
    }

    @Test("servingStaleOnError() adds a stale value for a failed load to another policy")
    func addsStaleOnError() async throws {
        let policy = CachePolicy.refresh.servingStaleOnError()
        #expect(policy == .loadFirst)
        let ahead = CachePolicy.cacheFirst.refreshingAhead(after: 0.5).servingStaleOnError()
        await setStale()
        await #expect(throws: Refusal.self) { try await ask(.cacheFirst) { throw Refusal() } }
        #expect(try await ask(ahead) { throw Refusal() } == 1)
        #expect(try await ask(policy) { throw Refusal() } == 1)
    }

    @Test("A value removed during a failing load is not used")
    func removalBeatsStaleness() async throws {
        await setStale()
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

    @Test("loadFirst loads and falls back to the cached value")
    func loadFirst() async throws {
        await cache.set(1, for: "a")
        #expect(try await ask(.loadFirst) { 2 } == 2)
        #expect(try await ask(.loadFirst) { throw Refusal() } == 2)
        #expect(try await ask(.refresh) { 3 } == 3)
        #expect(cache.peek("a") == 3)
    }

    @Test("cacheOnly never loads")
    func cacheOnly() async throws {
        await expectError(CacheError.self, .notCached) { try await ask(.cacheOnly) { 1 } }
        #expect(cache.statistics.loads == 0)
        await cache.set(5, for: "a")
        #expect(try await ask(.cacheOnly) { 1 } == 5)
    }

    @Test("Using a value late in its freshness reloads it in the background")
    func refreshesAhead() async throws {
        await cache.set(1, for: "a")
        #expect(try await cache.value(for: "a") { 2 } == 1)
        await clock.advance(by: .seconds(5))
        #expect(try await cache.value(for: "a") { 2 } == 1)
        try await waitUntil { cache.peek("a") == 2 }
        await clock.advance(by: .seconds(9))
        #expect(cache.peek("a") == 2)
    }

    @Test("A soft timeout returns the stale value while the load continues")
    func softTimeout() async throws {
        await setStale()
        let caller = Task { [cache, gate] in
            try await cache.value(for: "a", policy: .cacheFirst.softTimeout(.milliseconds(100))) {
                try await gate.pass()
                return 2
            }
        }
        try await waitUntil { gate.begunCount == 1 }
        await clock.advance(by: .milliseconds(100), onceAsleep: 1)
        #expect(try await caller.value == 1)
        #expect(gate.cancelledCount == 0)
        gate.open()
        try await waitUntil { cache.peek("a") == 2 }
        #expect(gate.begunCount == 1)
    }

    @Test("After a soft timeout, the load continues although another waiting caller is canceled")
    func softTimeoutBesideOthers() async throws {
        await setStale()
        let load: @Sendable () async throws -> Int = { [gate] in
            try await gate.pass()
            return 2
        }
        let patient = Task { try await ask(.cacheFirst, load) }
        try await waitUntil { gate.begunCount == 1 }
        let caller = Task { try await ask(.cacheFirst.softTimeout(.milliseconds(100)), load) }
        try await waitUntil { cache.waiterCount == 2 }
        await clock.advance(by: .milliseconds(100), onceAsleep: 1)
        #expect(try await caller.value == 1)
        patient.cancel()
        await #expect(throws: CancellationError.self) { try await patient.value }
        #expect(gate.cancelledCount == 0)
        gate.open()
        try await waitUntil { cache.peek("a") == 2 }
        #expect(gate.begunCount == 1)
    }

    @Test("A hard timeout throws and cancels a load without other waiters")
    func hardTimeout() async throws {
        let caller = Task { [cache, gate] in
            try await cache.value(for: "a", policy: .cacheFirst.hardTimeout(.seconds(1))) {
                try await gate.pass()
                return 2
            }
        }
        try await waitUntil { gate.begunCount == 1 }
        await clock.advance(by: .seconds(1), onceAsleep: 1)
        await expectError(CacheError.self, .timeout) { try await caller.value }
        try await waitUntil { gate.cancelledCount == 1 }
        #expect(cache.waiterCount == 0)
    }

    @Test("With staleIfError, a stale value replaces a load beyond its hard timeout")
    func hardTimeoutSurvived() async throws {
        await setStale()
        let caller = Task { [cache, gate] in
            try await cache.value(for: "a", policy: .staleIfError.hardTimeout(.seconds(1))) {
                try await gate.pass()
                return 2
            }
        }
        try await waitUntil { gate.begunCount == 1 }
        await clock.advance(by: .seconds(1), onceAsleep: 1)
        #expect(try await caller.value == 1)
    }

    @Test("A load in the background ends at the hard timeout, and the next read loads again")
    func hardTimeoutInBackground() async throws {
        await setStale()
        let policy = CachePolicy.staleWhileRevalidate.hardTimeout(.seconds(1))
        let stale = try await ask(policy) { [gate] in
            try await gate.pass()
            return 2
        }
        #expect(stale == 1)
        try await waitUntil { gate.begunCount == 1 }
        await clock.advance(by: .seconds(1), onceAsleep: 1)
        try await waitUntil { gate.cancelledCount == 1 }
        try await waitUntil {
            _ = try await ask(policy) { 3 }
            return cache.peek("a") == 3
        }
    }

    @Test("A load that continues after a soft timeout ends at the hard timeout")
    func hardTimeoutAfterSoft() async throws {
        await setStale()
        let policy = CachePolicy.cacheFirst.softTimeout(.seconds(1)).hardTimeout(.seconds(2))
        let caller = Task {
            try await ask(policy) { [gate] in
                try await gate.pass()
                return 2
            }
        }
        try await waitUntil { gate.begunCount == 1 }
        await clock.advance(by: .seconds(1), onceAsleep: 2)
        #expect(try await caller.value == 1)
        await clock.advance(by: .seconds(2), onceAsleep: 1)
        try await waitUntil { gate.cancelledCount == 1 }
        #expect(cache.waiterCount == 0)
    }

    @Test("A load within its timeouts is returned as usual")
    func withinLimits() async throws {
        let policy = CachePolicy.cacheFirst.softTimeout(.seconds(1)).hardTimeout(.seconds(2))
        #expect(try await ask(policy) { 4 } == 4)
        await #expect(throws: Refusal.self) {
            try await ask(.refresh.hardTimeout(.seconds(2))) { throw Refusal() }
        }
        #expect(clock.sleeperCount == 0)
    }
}
