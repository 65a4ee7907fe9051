import Synchronization

/// What a cache has done since it was made.
public struct HTTPCacheStatistics: Hashable, Sendable {
    /// How many calls were answered from the cache without asking the origin, being fresh.
    public var freshHits = 0
    /// How many calls were answered from the cache after the origin said that it is still good.
    public var revalidatedHits = 0
    /// How many calls were answered from the cache with something past its freshness.
    public var staleHits = 0
    /// How many calls the origin answered although the cache was asked.
    public var misses = 0
    /// How many calls the cache took no part in: other methods, other wishes, unknown users.
    public var bypasses = 0
    /// How many calls found nothing and were not to ask the origin.
    public var refusals = 0
    /// How many calls shared the revalidation of another one.
    public var sharedRevalidations = 0
    /// How many revalidations ran in the background.
    public var backgroundRevalidations = 0
    /// How many responses were stored.
    public var stores = 0
    /// How many bodies were not stored because they were cut off, abandoned or too large.
    public var unfinishedBodies = 0
    /// How many addresses and groups were made worthless by calls that change something.
    public var invalidations = 0
    /// How many operations of the tier failed; each counts as a miss or as not stored.
    public var tierFailures = 0

    /// Creates statistics of nothing.
    public init() {}

    /// How many calls the cache answered.
    public var hits: Int { freshHits + revalidatedHits + staleHits }

    /// Which part of the calls that could be answered were, from 0 to 1; 0 where there were none.
    public var hitRatio: Double {
        let count = hits + misses
        return count == 0 ? 0 : Double(hits) / Double(count)
    }
}

/// Counts what a cache does.
final class StatisticsCounter: Sendable {
    private let statistics = Mutex(HTTPCacheStatistics())

    var current: HTTPCacheStatistics { statistics.withLock { $0 } }

    func add(_ path: any WritableKeyPath<HTTPCacheStatistics, Int> & Sendable, _ count: Int = 1) {
        statistics.withLock { $0[keyPath: path] += count }
    }
}
