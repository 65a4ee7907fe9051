import KeelCache

/// The same entries in a cache and in an app's alternative.
final class HitPair<Key: Hashable & Sendable>: Sendable {
    /// The keys to read, in order, which are not the same instances as those of the entries.
    let reads: [Key]
    let cache: Cache<Key, Int>
    let expiring: Cache<Key, Int>
    let dictionary = PeerDictionary<Key>()
    let sharded = PeerShards<Key>()
    let timed = PeerTimedDictionary<Key>()
    let isolated: PeerActor<Key>

    init(_ keys: [Key], reads count: Int) where Key == Int {
        reads = Draws.ranks(count, of: keys.count).map(Draws.number)
        (cache, expiring, isolated) = Self.filled(keys, dictionary, sharded, timed)
    }

    init(_ keys: [Key], reads count: Int) where Key == String {
        // Another instance of each key, as a caller would create.
        let others = keys.indices.map(Draws.text)
        reads = Draws.ranks(count, of: keys.count).map { others[$0] }
        (cache, expiring, isolated) = Self.filled(keys, dictionary, sharded, timed)
    }

    private static func filled(
        _ keys: [Key],
        _ dictionary: PeerDictionary<Key>,
        _ sharded: PeerShards<Key>,
        _ timed: PeerTimedDictionary<Key>
    ) -> (Cache<Key, Int>, Cache<Key, Int>, PeerActor<Key>) {
        // Enough capacity for all, however the keys are distributed among the cache's parts, to measure hits only.
        let limits = CacheLimits.count(keys.count * 5 / 4)
        let cache = Cache<Key, Int>(CacheConfiguration(limits: limits))
        let expiring = Cache<Key, Int>(CacheConfiguration(limits: limits, expiry: .hours(1)))
        var entries: [Key: Int] = [:]
        for (number, key) in keys.enumerated() {
            cache.setSynchronously(number, for: key)
            expiring.setSynchronously(number, for: key)
            dictionary.set(number, for: key)
            sharded.set(number, for: key)
            timed.set(number, for: key, seconds: 3600)
            entries[key] = number
        }
        return (cache, expiring, PeerActor(entries))
    }

    /// Returns the nanoseconds of a read.
    ///
    /// Inlined, so that the called code is specialized for the caller's types.
    @inline(__always)
    func perRead(_ read: (Key) -> Int?) throws -> Double {
        try Self.perRead(reads[...], read)
    }

    /// Returns the nanoseconds of a read while two threads each read half.
    @inline(__always)
    func perReadOfTwo(_ read: @escaping @Sendable (Key) -> Int?) async throws -> Double {
        try await byTwo { _ = try Self.perRead($0, read) }
    }

    /// Returns the nanoseconds of a read while two tasks each read half.
    func byTwo(
        _ read: @escaping @concurrent @Sendable (ArraySlice<Key>) async throws -> Void
    ) async throws -> Double {
        let halves = [reads[..<(reads.count / 2)], reads[(reads.count / 2)...]]
        let start = ContinuousClock.now
        try await withThrowingDiscardingTaskGroup { group in
            for half in halves { group.addTask { @concurrent in try await read(half) } }
        }
        return start.duration(to: .now) / .nanoseconds(1) / Double(reads.count)
    }

    @inline(__always)
    private static func perRead(_ keys: ArraySlice<Key>, _ read: (Key) -> Int?) throws -> Double {
        var found = 0
        let start = ContinuousClock.now
        for key in keys where read(key) != nil { found += 1 }
        return try CacheGroup.perRead(found, of: keys.count, since: start)
    }
}
