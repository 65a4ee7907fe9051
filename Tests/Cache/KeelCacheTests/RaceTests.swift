import KeelCache
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Concurrent loads, sets, removals, tags and cancellations of a few keys.
///
/// The origin is a growing number per key. Every change of the origin is followed by an
/// invalidation of the cache, after which no read may return an older number. `KEEL_CACHE_RACES`
/// sets the length of the run.
@Suite("Races", .timeLimit(.minutes(10)))
struct RaceTests {
    private static let races = TestLength.count("KEEL_CACHE_RACES", 10_000, thorough: 20_000)

    private struct Origin: Sendable {
        /// The result of a load that begins now.
        var current = 0
        /// The lowest allowed result of a read that begins now.
        var floor = 0
    }

    private static let keyCount = 8

    private final class Origins: Sendable {
        private let state = Mutex([Origin](repeating: Origin(), count: RaceTests.keyCount))

        func current(_ key: Int) -> Int { state.withLock { $0[key].current } }
        func floor(_ key: Int) -> Int { state.withLock { $0[key].floor } }

        func change(_ key: Int) -> Int {
            state.withLock { state in
                state[key].current += 1
                return state[key].current
            }
        }

        /// Records that the cache knows of this number.
        func told(_ key: Int, _ number: Int) {
            state.withLock { $0[key].floor = max($0[key].floor, number) }
        }
    }

    private enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case memory, tier, store
        var testDescription: String { rawValue }
    }

    private static func cache(_ kind: Kind) -> Cache<Int, Int> {
        let limits = CacheConfiguration(limits: .count(5))
        switch kind {
        case .memory: return Cache(CacheConfiguration(limits: .count(1_000)))
        case .tier: return Cache(over: InMemoryCacheTier(), name: "races", coding: .json(), limits)
        case .store:
            let store = CacheStore(limits, over: InMemoryCacheTier())
            return store.cache("races", key: Int.self, value: Int.self)
        }
    }

    @Test("No read returns a value older than a preceding invalidation", arguments: Kind.allCases)
    private func neverStale(_ kind: Kind) async throws {
        let cache = Self.cache(kind)
        let origins = Origins()
        let stale = Counter()
        let rounds = Self.races / (kind == .memory ? 4 : 16)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    var random = SeededRandom(seed: UInt64(worker) + 1)
                    for _ in 0..<rounds {
                        let key = Int.random(in: 0..<Self.keyCount, using: &random)
                        try await Self.act(
                            Int.random(in: 0..<16, using: &random),
                            key,
                            cache,
                            origins,
                            stale
                        )
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(stale.count == 0, "stale reads in \(Self.races) races")
        #expect(cache.waiterCount == 0)
        #expect(cache.statistics.loads > 0)
        for key in 0..<Self.keyCount {
            if let value = await cache.get(key) { #expect(value >= origins.floor(key)) }
        }
    }

    private static func act(
        _ action: Int,
        _ key: Int,
        _ cache: Cache<Int, Int>,
        _ origins: Origins,
        _ stale: Counter
    ) async throws {
        let floor = origins.floor(key)
        switch action {
        case 0:
            let number = origins.change(key)
            try await cache.remove(key)
            origins.told(key, number)
        case 1:
            let number = origins.change(key)
            try await cache.removeAll(tagged: "t\(key)")
            origins.told(key, number)
        case 2:
            let number = origins.change(key)
            try await cache.removeAll()
            origins.told(key, number)
        case 3, 4:
            // Canceled at some moment during or after the load.
            let task = Task { try await load(key, cache, origins) }
            if action == 3 { await Task.yield() }
            task.cancel()
            if let value = try? await task.value, value < floor { stale.next() }
        case 5..<9:
            if let value = cache.peek(key), value < floor { stale.next() }
        case 9:
            if let value = await cache.get(key), value < floor { stale.next() }
        default:
            if try await load(key, cache, origins) < floor { stale.next() }
        }
    }

    private static func load(
        _ key: Int,
        _ cache: Cache<Int, Int>,
        _ origins: Origins
    ) async throws -> Int {
        try await cache.value(for: key, tags: ["t\(key)"]) {
            let number = origins.current(key)
            if number % 2 == 0 { await Task.yield() }
            return number
        }
    }

    @Test("After concurrent sets and removals, memory and tier agree")
    func tierAgrees() async throws {
        let tier = InMemoryCacheTier()
        let cache = Cache<Int, Int>(over: tier, name: "races", coding: .json())
        let rounds = Self.races / 20
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0..<rounds {
                        let key = round % 4
                        if round % 7 == worker {
                            try? await cache.remove(key)
                        } else {
                            await cache.set(worker * 1_000_000 + round, for: key)
                        }
                    }
                }
            }
        }
        let below = Cache<Int, Int>(over: tier, name: "races", coding: .json())
        for key in 0..<4 { #expect(await below.get(key) == cache.peek(key)) }
    }

    @Test("Many misses and cancellations cause one load per key and leave nothing behind")
    func storms() async throws {
        let cache = Cache<Int, Int>()
        for round in 0..<20 {
            let loads = Counter()
            let gate = Gate()
            let callers = (0..<200).map { _ in
                Task {
                    try await cache.value(for: round) {
                        try await gate.pass()
                        return loads.next()
                    }
                }
            }
            try await waitUntil { cache.waiterCount == 200 && gate.begunCount == 1 }
            for caller in callers.dropFirst(100) { caller.cancel() }
            gate.open()
            for caller in callers.prefix(100) { #expect(try await caller.value == 1) }
            for caller in callers.dropFirst(100) { _ = await caller.result }
            #expect(loads.count == 1)
        }
        #expect(cache.waiterCount == 0)
        #expect(cache.count == 20)
    }
}
