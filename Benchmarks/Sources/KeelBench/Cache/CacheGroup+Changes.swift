import Foundation
import KeelCache

extension CacheGroup {
    // MARK: Eviction

    /// Measures values for new keys in a full cache; the dictionary drops the oldest key for each.
    static func insertion(_ options: Options) -> Measure {
        let (room, count) = (options.scaled(10_000), options.scaled(200_000))
        return Measure(
            name: "insert with eviction / dictionary",
            unit: "ns",
            target: .atMost(2),
            keel: {
                let cache = Cache<Int, Int>(CacheConfiguration(limits: .count(room)))
                // Twice, to fill every part of the cache.
                for number in 0..<(2 * room) { cache.setSynchronously(number, for: number) }
                let before = cache.statistics.evictions
                let start = ContinuousClock.now
                for number in (2 * room)..<(2 * room + count) {
                    cache.setSynchronously(number, for: number)
                }
                let time = start.duration(to: .now)
                guard cache.statistics.evictions - before == count, cache.count == room else {
                    throw Flaw("not every insertion made room for itself")
                }
                return time / .nanoseconds(1) / Double(count)
            },
            peer: {
                var entries: [Int: Int] = [:]
                for number in 0..<room { entries[number] = number }
                let start = ContinuousClock.now
                for number in room..<(room + count) {
                    entries[number] = number
                    entries[number - room] = nil
                }
                let time = start.duration(to: .now)
                guard entries.count == room else { throw Flaw("the dictionary has grown") }
                return time / .nanoseconds(1) / Double(count)
            }
        )
    }

    // MARK: Stale values

    /// Measures reads of a stale value during one load, against reads of a fresh value.
    static func staleHit(_ options: Options) -> Measure {
        let count = options.scaled(200_000)
        return Measure(
            name: "hit while revalidating / fresh hit",
            unit: "ns",
            target: .atMost(2),
            keel: { try await revalidating(count) },
            peer: {
                let cache = revalidatingCache()
                cache.setSynchronously(1, for: 1)
                return try await perValue(count, of: cache) { 2 }
            }
        )
    }

    private static func revalidatingCache() -> Cache<Int, Int> {
        Cache(
            CacheConfiguration(
                expiry: .hours(1),
                staleness: .seconds(3600),
                policy: .staleWhileRevalidate
            )
        )
    }

    /// Returns the time of a hit during a load, which ends only after the measurement, because an origin is slower
    /// than any hit.
    @concurrent
    private static func revalidating(_ count: Int) async throws -> Double {
        let cache = revalidatingCache()
        cache.setSynchronously(1, for: 1, expiry: .seconds(0))
        let (begun, begins) = AsyncStream<Void>.makeStream()
        let (gate, opener) = AsyncStream<Never>.makeStream()
        let load: @Sendable () async throws -> Int = {
            begins.yield()
            for await _ in gate {}
            return 2
        }
        _ = try await cache.value(for: 1, load: load)
        for await _ in begun { break }
        let figure = try await perValue(count, of: cache, load)
        guard cache.statistics.loads == 1 else { throw Flaw("the origin was asked again") }
        opener.finish()
        while cache.peek(1) != 2 { try await Task.sleep(for: .milliseconds(1)) }
        return figure
    }

    private static func perValue(
        _ count: Int,
        of cache: Cache<Int, Int>,
        _ load: @escaping @Sendable () async throws -> Int
    ) async throws -> Double {
        var sum = 0
        let start = ContinuousClock.now
        for _ in 0..<count { sum += try await cache.value(for: 1, load: load) }
        let time = start.duration(to: .now)
        guard sum == count else { throw Flaw("a hit was not the old value") }
        return time / .nanoseconds(1) / Double(count)
    }
}
