import KeelCache
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Loading", .timeLimit(.minutes(1)))
struct LoadingTests {
    struct Refusal: Error, Equatable {}

    private let cache = Cache<String, Int>()
    private let gate = Gate()
    private let loads = Counter()

    private func ask(_ key: String = "a", _ policy: CachePolicy? = nil) -> Task<Int, any Error> {
        Task { [cache, gate, loads] in
            try await cache.value(for: key, policy: policy) {
                let number = loads.next()
                try await gate.pass()
                return number
            }
        }
    }

    @Test("A thousand concurrent misses share one load")
    func sharesOneLoad() async throws {
        let callers = (0..<1_000).map { _ in ask() }
        try await waitUntil { gate.begunCount == 1 && cache.waiterCount == 1_000 }
        gate.open()
        for caller in callers { #expect(try await caller.value == 1) }
        #expect(loads.count == 1)
        #expect(cache.statistics.loads == 1)
        #expect(cache.peek("a") == 1)
        #expect(cache.waiterCount == 0)
    }

    @Test("A cached value is not loaded")
    func prefersTheCache() async throws {
        await cache.set(5, for: "a")
        #expect(try await cache.value(for: "a") { 6 } == 5)
        #expect(cache.statistics.loads == 0)
        #expect(cache.statistics.hits == 1 && cache.statistics.misses == 0)
        #expect(try await cache.value(for: "b") { 6 } == 6)
        #expect(cache.statistics.hits == 1 && cache.statistics.misses == 1)
    }

    @Test("A failure reaches all waiters and is not cached")
    func sharesFailure() async throws {
        let callers = (0..<10).map { _ in
            Task { [cache, gate] in
                try await cache.value(for: "a") {
                    try await gate.pass()
                    throw Refusal()
                }
            }
        }
        try await waitUntil { cache.waiterCount == 10 }
        gate.open()
        for caller in callers {
            await #expect(throws: Refusal.self) { try await caller.value }
        }
        #expect(cache.statistics.loadFailures == 1)
        #expect(try await cache.value(for: "a") { 7 } == 7)
    }

    @Test("Canceling a caller does not cancel the load; canceling the last one does")
    func cancellation() async throws {
        let callers = (0..<100).map { _ in ask() }
        try await waitUntil { gate.begunCount == 1 && cache.waiterCount == 100 }
        for caller in callers.dropLast() { caller.cancel() }
        for caller in callers.dropLast() {
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
        #expect(gate.cancelledCount == 0)
        callers.last?.cancel()
        await #expect(throws: CancellationError.self) { try await callers.last?.value }
        try await waitUntil { gate.cancelledCount == 1 }
        #expect(cache.peek("a") == nil)
        gate.open()
        #expect(try await ask().value == 2)
        #expect(cache.waiterCount == 0)
    }

    @Test("A value set during a load is kept, and the waiters get the loaded one")
    func setOvertakes() async throws {
        let caller = ask()
        try await waitUntil { gate.begunCount == 1 }
        await cache.set(99, for: "a")
        #expect(cache.peek("a") == 99)
        gate.open()
        #expect(try await caller.value == 1)
        #expect(cache.peek("a") == 99)
        #expect(cache.statistics.supersededLoads == 1)
    }

    @Test("A value removed during its load is not stored", arguments: ["key", "all", "tag"])
    func removalOvertakes(_ kind: String) async throws {
        let caller = Task { [cache, gate] in
            try await cache.value(for: "a", tags: ["t"]) {
                try await gate.pass()
                return 1
            }
        }
        try await waitUntil { gate.begunCount == 1 }
        switch kind {
        case "key": try await cache.remove("a")
        case "all": try await cache.removeAll()
        default: try await cache.removeAll(tagged: "t")
        }
        gate.open()
        #expect(try await caller.value == 1)
        #expect(cache.peek("a") == nil)
        #expect(cache.count == 0)
        #expect(cache.statistics.supersededLoads == 1)
    }

    @Test("A caller after a removal does not get a value loaded before it")
    func newcomers() async throws {
        let before = ask()
        try await waitUntil { gate.begunCount == 1 }
        try await cache.remove("a")
        let after = ask()
        try await waitUntil { gate.begunCount == 2 }
        gate.open()
        #expect(try await before.value == 1)
        #expect(try await after.value == 2)
        #expect(cache.peek("a") == 2)
    }

    @Test("Missing keys are loaded together in one call")
    func bulk() async throws {
        await cache.set(1, for: "a")
        let values = try await cache.values(for: ["a", "b", "c", "b"]) { [loads] keys in
            loads.next()
            #expect(keys == ["b", "c"])
            return ["b": 2]
        }
        #expect(values == ["a": 1, "b": 2])
        #expect(loads.count == 1)
        #expect(cache.peek("b") == 2 && cache.peek("c") == nil)
        let cached = try await cache.values(for: ["a", "b", "z"], policy: .cacheOnly) { _ in [:] }
        #expect(cached == ["a": 1, "b": 2])
    }

    @Test("A key that a load of several keys does not find any more loses its value")
    func bulkForgets() async throws {
        await cache.set(1, for: "a")
        await cache.set(2, for: "b")
        let values = try await cache.values(for: ["a", "b"], policy: .refresh) { _ in ["b": 3] }
        #expect(values == ["b": 3])
        #expect(cache.peek("a") == nil && cache.peek("b") == 3)
    }

    @Test("Keys that a load of several keys does not find take no place in memory")
    func bulkAbsence() async throws {
        let values = try await cache.values(for: ["a", "b"]) { _ in [:] }
        #expect(values.isEmpty && cache.count == 0)
    }

    @Test("A key set during a load of several keys keeps its value")
    func bulkOvertaken() async throws {
        let values = try await cache.values(for: ["a", "b"]) { [cache] _ in
            await cache.set(50, for: "a")
            return ["a": 1, "b": 2]
        }
        #expect(values == ["a": 1, "b": 2])
        #expect(cache.peek("a") == 50 && cache.peek("b") == 2)
    }

    @Test("A value known to be absent is not loaded again until its own expiry")
    func absence() async throws {
        let clock = TestClock()
        let cache = Cache<String, Int>(
            CacheConfiguration(expiry: .hours(1), absenceExpiry: .seconds(30)),
            clock: .following(clock)
        )
        for _ in 0..<5 {
            let value = try await cache.findValue(for: "a") { [loads] in
                loads.next()
                return CacheLoaded(nil)
            }
            #expect(value == nil)
        }
        #expect(loads.count == 1)
        #expect(cache.peek("a") == nil)
        #expect(try await cache.values(for: ["a"]) { _ in ["a": 3] } == [:])
        await clock.advance(by: .seconds(30))
        #expect(try await cache.findValue(for: "a") { CacheLoaded(4) } == 4)
        await clock.advance(by: .seconds(60))
        #expect(cache.peek("a") == 4)
    }

    @Test("A call that shares a load without a result, but needs a value, loads it itself")
    func sharedAbsence() async throws {
        let finder = Task { [cache, gate] in
            try await cache.findValue(for: "a") {
                try await gate.pass()
                return CacheLoaded(nil)
            }
        }
        try await waitUntil { gate.begunCount == 1 }
        let caller = Task { [cache] in try await cache.value(for: "a") { 7 } }
        try await waitUntil { cache.waiterCount == 2 }
        gate.open()
        #expect(try await finder.value == nil)
        #expect(try await caller.value == 7)
        #expect(cache.statistics.loads == 2)
    }

    @Test("A loaded value can set its expiry and whether it is stored")
    func loadedSaysSo() async throws {
        let clock = TestClock()
        let cache = Cache<String, Int>(clock: .following(clock))
        _ = try await cache.findValue(for: "a") { CacheLoaded(1, expiry: .seconds(5)) }
        _ = try await cache.findValue(for: "b") { CacheLoaded(2, isStored: false) }
        #expect(cache.peek("a") == 1 && cache.peek("b") == nil)
        await clock.advance(by: .seconds(5))
        #expect(cache.peek("a") == nil)
    }
}
