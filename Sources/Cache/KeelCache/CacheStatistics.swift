/// The counts of a cache since it was created.
public struct CacheStatistics: Hashable, Sendable {
    /// Reads that found a fresh entry in memory, including entries that record an absent value.
    ///
    /// Policies that always load count neither hits nor misses.
    public var hits = 0
    /// Reads that found no fresh entry in memory.
    public var misses = 0
    /// Reads of the tier that found a usable entry, except by policies that always load.
    public var tierHits = 0
    /// Calls that returned a stale value.
    public var staleHits = 0
    /// Loads that were started; a load of several keys counts once.
    public var loads = 0
    /// Loads that failed.
    public var loadFailures = 0
    /// Values that were not stored because their key was changed, or one of their tags removed, during the load.
    public var supersededLoads = 0
    /// Entries evicted from memory to make room.
    public var evictions = 0
    /// Entries dropped because they had expired or were idle for too long.
    public var expirations = 0
    /// Entries dropped because one of their tags was removed.
    public var invalidations = 0
    /// Values rejected because they cost more than ``CacheLimits/largestCost``.
    public var rejections = 0
    /// Failed calls of the tier, and keys and values that could not be encoded.
    ///
    /// A failure of a store's tier counts for all of its caches that use the tier.
    public var tierFailures = 0
    /// Entries of the tier that could not be read or decoded as the cache's value type.
    public var decodingFailures = 0

    /// Creates statistics with all counts at zero.
    public init() {}

    /// The ratio of ``hits`` and ``tierHits`` to all counted reads; 0 before the first read.
    public var hitRatio: Double {
        let reads = hits + misses
        return reads == 0 ? 0 : Double(hits + tierHits) / Double(reads)
    }
}
