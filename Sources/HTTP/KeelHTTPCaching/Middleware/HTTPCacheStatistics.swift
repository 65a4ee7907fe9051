import Synchronization

/// The counts of a cache since it was created.
public struct HTTPCacheStatistics: Hashable, Sendable {
    /// Calls answered with a fresh response, without asking the origin.
    public var freshHits = 0
    /// Calls answered from the cache after the origin confirmed the response.
    public var revalidatedHits = 0
    /// Calls answered with a stale response.
    public var staleHits = 0
    /// Calls the origin answered although the cache was asked.
    public var misses = 0
    /// Calls passed on without asking the cache, because of their method, their policy, `no-store` or an unknown user.
    public var bypasses = 0
    /// Calls for which nothing usable was stored and that excluded the origin.
    public var onlyIfCachedMisses = 0
    /// Calls that shared another call's revalidation.
    public var sharedRevalidations = 0
    /// Revalidations started in the background.
    public var backgroundRevalidations = 0
    /// Responses that were stored.
    public var storedResponses = 0
    /// Bodies not stored because they were incomplete, abandoned or too large, or a file could not be written.
    public var unfinishedBodies = 0
    /// Addresses and groups invalidated by calls that change resources, or removed by the app.
    public var invalidations = 0
    /// Failed operations of the tier.
    public var tierFailures = 0

    /// Creates statistics with all counts at zero.
    public init() {}

    /// Calls answered from the cache.
    public var hits: Int { freshHits + revalidatedHits + staleHits }

    /// The fraction of hits among hits and misses, from 0 to 1; 0 if there were none.
    public var hitRatio: Double {
        let count = hits + misses
        return count == 0 ? 0 : Double(hits) / Double(count)
    }
}

final class StatisticsCounter: Sendable {
    private let statistics = Mutex(HTTPCacheStatistics())

    var current: HTTPCacheStatistics { statistics.withLock { $0 } }

    func add(_ path: any WritableKeyPath<HTTPCacheStatistics, Int> & Sendable, _ count: Int = 1) {
        statistics.withLock { $0[keyPath: path] += count }
    }
}
