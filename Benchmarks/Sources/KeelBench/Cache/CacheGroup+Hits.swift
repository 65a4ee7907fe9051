import Foundation
import KeelCache

// The closures have concrete types: a generic one might be compiled for all types, on both sides.
extension CacheGroup {
    // MARK: One thread

    static func numberHit(_ pair: Lazily<HitPair<Int>>) -> Measure {
        Measure(
            name: "Int hit / Mutex<[Int: Int]>",
            unit: "ns",
            target: .atMost(2.5),
            keel: {
                let pair = try await pair.value()
                return try pair.perRead { pair.cache.peek($0) }
            },
            peer: {
                let pair = try await pair.value()
                return try pair.perRead { pair.dictionary.get($0) }
            }
        )
    }

    static func textHit(_ pair: Lazily<HitPair<String>>) -> Measure {
        Measure(
            name: "String hit / Mutex<[String: Int]>",
            unit: "ns",
            target: .atMost(0.75),
            keel: {
                let pair = try await pair.value()
                return try pair.perRead { pair.cache.peek($0) }
            },
            peer: {
                let pair = try await pair.value()
                return try pair.perRead { pair.dictionary.get($0) }
            }
        )
    }

    static func expiringHit(_ pair: Lazily<HitPair<Int>>) -> Measure {
        Measure(
            name: "Int hit that can expire / Mutex and Date()",
            unit: "ns",
            target: .info,
            keel: {
                let pair = try await pair.value()
                return try pair.perRead { pair.expiring.peek($0) }
            },
            peer: {
                let pair = try await pair.value()
                return try pair.perRead { pair.timed.get($0) }
            }
        )
    }

    static func objectHit(_ pair: Lazily<HitPair<String>>) -> Measure {
        let objects = Lazily { PeerObjects(try await pair.value().reads) }
        return Measure(
            name: "String hit / NSCache<NSString, NSNumber>",
            unit: "ns",
            target: .info,
            keel: {
                let pair = try await pair.value()
                return try pair.perRead { pair.cache.peek($0) }
            },
            peer: { try await objects.value().perRead() }
        )
    }

    // MARK: Two threads

    static func twoThreads(_ pair: Lazily<HitPair<Int>>) -> Measure {
        Measure(
            name: "Int hit, two threads / 16 Mutex shards",
            unit: "ns",
            target: .atLeast(1.2),
            keel: {
                let pair = try await pair.value()
                return try await pair.perReadOfTwo { pair.cache.peek($0) }
            },
            peer: {
                let pair = try await pair.value()
                return try await pair.perReadOfTwo { pair.sharded.get($0) }
            }
        )
    }

    static func twoThreads(_ pair: Lazily<HitPair<String>>) -> Measure {
        Measure(
            name: "String hit, two threads / 16 Mutex shards",
            unit: "ns",
            target: .atLeast(1.2),
            keel: {
                let pair = try await pair.value()
                return try await pair.perReadOfTwo { pair.cache.peek($0) }
            },
            peer: {
                let pair = try await pair.value()
                return try await pair.perReadOfTwo { pair.sharded.get($0) }
            }
        )
    }

    // MARK: Awaited

    static func awaitedHit(_ pair: Lazily<HitPair<Int>>) -> Measure {
        Measure(
            name: "Int hit, awaited / actor",
            unit: "ns",
            target: .info,
            keel: {
                let pair = try await pair.value()
                return try await awaited(pair.reads[...], pair.cache)
            },
            peer: {
                let pair = try await pair.value()
                return try await awaited(pair.reads[...], pair.isolated)
            }
        )
    }

    static func awaitedByTwo(_ pair: Lazily<HitPair<Int>>) -> Measure {
        @Sendable func byTwo(
            _ reads: [Int],
            _ read: @escaping @concurrent @Sendable (ArraySlice<Int>) async throws -> Void
        ) async throws -> Double {
            let halves = [reads[..<(reads.count / 2)], reads[(reads.count / 2)...]]
            let start = ContinuousClock.now
            try await withThrowingDiscardingTaskGroup { group in
                for half in halves { group.addTask { @concurrent in try await read(half) } }
            }
            return start.duration(to: .now) / .nanoseconds(1) / Double(reads.count)
        }
        return Measure(
            name: "Int hit, awaited by two threads / actor",
            unit: "ns",
            target: .info,
            // Thirty times slower than the other rows, where two threads fight for the actor.
            maximumRounds: 3,
            keel: {
                let pair = try await pair.value()
                return try await byTwo(pair.reads) { _ = try await awaited($0, pair.cache) }
            },
            peer: {
                let pair = try await pair.value()
                return try await byTwo(pair.reads) { _ = try await awaited($0, pair.isolated) }
            }
        )
    }

    private static func awaited(
        _ keys: ArraySlice<Int>,
        _ cache: Cache<Int, Int>
    ) async throws -> Double {
        var found = 0
        let start = ContinuousClock.now
        for key in keys where await cache.get(key) != nil { found += 1 }
        let time = start.duration(to: .now)
        guard found == keys.count else { throw Flaw("an entry was not found") }
        return time / .nanoseconds(1) / Double(keys.count)
    }

    private static func awaited(
        _ keys: ArraySlice<Int>,
        _ actor: PeerActor<Int>
    ) async throws -> Double {
        var found = 0
        let start = ContinuousClock.now
        for key in keys where await actor.get(key) != nil { found += 1 }
        let time = start.duration(to: .now)
        guard found == keys.count else { throw Flaw("an entry was not found") }
        return time / .nanoseconds(1) / Double(keys.count)
    }
}
