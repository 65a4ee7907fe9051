import Foundation
import KeelCache

// The closures have concrete types, because generic ones might not be specialized, on either side.
extension CacheGroup {
    // MARK: One thread

    static func numberHit(_ pair: Lazily<HitPair<Int>>) -> Measure {
        hit(
            "Int hit / Mutex<[Int: Int]>",
            .atMost(2.5),
            of: pair,
            keel: { pair in try pair.perRead { pair.cache.peek($0) } },
            peer: { pair in try pair.perRead { pair.dictionary.get($0) } }
        )
    }

    static func textHit(_ pair: Lazily<HitPair<String>>) -> Measure {
        hit(
            "String hit / Mutex<[String: Int]>",
            .atMost(0.75),
            of: pair,
            keel: { pair in try pair.perRead { pair.cache.peek($0) } },
            peer: { pair in try pair.perRead { pair.dictionary.get($0) } }
        )
    }

    static func expiringHit(_ pair: Lazily<HitPair<Int>>) -> Measure {
        hit(
            "Int hit that can expire / Mutex and Date()",
            .info,
            of: pair,
            keel: { pair in try pair.perRead { pair.expiring.peek($0) } },
            peer: { pair in try pair.perRead { pair.timed.get($0) } }
        )
    }

    static func objectHit(_ pair: Lazily<HitPair<String>>) -> Measure {
        let objects = Lazily { PeerObjects(try await pair.value().reads) }
        return hit(
            "String hit / NSCache<NSString, NSNumber>",
            .info,
            of: pair,
            keel: { pair in try pair.perRead { pair.cache.peek($0) } },
            peer: { _ in try await objects.value().perRead() }
        )
    }

    // MARK: Two threads

    static func twoThreads(_ pair: Lazily<HitPair<Int>>) -> Measure {
        hit(
            "Int hit, two threads / 16 Mutex shards",
            .atLeast(1.2),
            of: pair,
            keel: { pair in try await pair.perReadOfTwo { pair.cache.peek($0) } },
            peer: { pair in try await pair.perReadOfTwo { pair.sharded.get($0) } }
        )
    }

    static func twoThreads(_ pair: Lazily<HitPair<String>>) -> Measure {
        hit(
            "String hit, two threads / 16 Mutex shards",
            .atLeast(1.2),
            of: pair,
            keel: { pair in try await pair.perReadOfTwo { pair.cache.peek($0) } },
            peer: { pair in try await pair.perReadOfTwo { pair.sharded.get($0) } }
        )
    }

    // MARK: Awaited

    static func awaitedHit(_ pair: Lazily<HitPair<Int>>) -> Measure {
        hit(
            "Int hit, awaited / actor",
            .info,
            of: pair,
            keel: { pair in try await awaited(pair.reads[...], pair.cache) },
            peer: { pair in try await awaited(pair.reads[...], pair.isolated) }
        )
    }

    static func awaitedByTwo(_ pair: Lazily<HitPair<Int>>) -> Measure {
        hit(
            "Int hit, awaited by two threads / actor",
            .info,
            of: pair,
            // Thirty times slower than the other rows, because two threads contend for the actor.
            maximumRounds: 3,
            keel: { pair in
                try await pair.byTwo { _ = try await awaited($0, pair.cache) }
            },
            peer: { pair in
                try await pair.byTwo { _ = try await awaited($0, pair.isolated) }
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
        return try perRead(found, of: keys.count, since: start)
    }

    private static func awaited(
        _ keys: ArraySlice<Int>,
        _ actor: PeerActor<Int>
    ) async throws -> Double {
        var found = 0
        let start = ContinuousClock.now
        for key in keys where await actor.get(key) != nil { found += 1 }
        return try perRead(found, of: keys.count, since: start)
    }

    /// Returns the nanoseconds per read so far, if every entry was found.
    static func perRead(
        _ found: Int,
        of count: Int,
        since start: ContinuousClock.Instant
    ) throws -> Double {
        let time = start.duration(to: .now)
        guard found == count else { throw Flaw("an entry was not found") }
        return time / .nanoseconds(1) / Double(count)
    }

    /// Measures nanoseconds of two sides that read the same entries.
    private static func hit<Key>(
        _ name: String,
        _ target: Target,
        of pair: Lazily<HitPair<Key>>,
        maximumRounds: Int = .max,
        keel: @escaping @concurrent @Sendable (HitPair<Key>) async throws -> Double,
        peer: @escaping @concurrent @Sendable (HitPair<Key>) async throws -> Double
    ) -> Measure {
        Measure(
            name: name,
            unit: "ns",
            target: target,
            maximumRounds: maximumRounds,
            keel: { try await keel(try await pair.value()) },
            peer: { try await peer(try await pair.value()) }
        )
    }
}
