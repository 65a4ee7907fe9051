/// The counts of a cache since it was created.
public struct CacheStatistics: Hashable, Sendable {
    /// Reads that found a usable entry in memory, including entries that record an absent value.
    public var hits = 0
    /// Reads that found no usable entry in memory.
    public var misses = 0
    /// Misses that the tier could answer.
    public var tierHits = 0
    /// Loads that returned a stale value.
    public var staleHits = 0
    /// Loads that were started.
    public var loads = 0
    /// Loads that failed.
    public var loadFailures = 0
    /// Values that were not stored because their key changed while they were loaded.
    public var supersededLoads = 0
    /// Entries evicted from memory to make room.
    public var evictions = 0
    /// Entries dropped because they had expired.
    public var expirations = 0
    /// Entries dropped because one of their tags was removed.
    public var invalidations = 0
    /// Values rejected because they exceeded memory's limit.
    public var rejections = 0
    /// Failed calls of the tier.
    public var tierFailures = 0
    /// Entries of the tier that did not decode as the cache's value type.
    public var decodingFailures = 0

    /// Creates statistics with all counts at zero.
    public init() {}

    /// The fraction of reads answered from memory or the tier; 0 before the first read.
    public var hitRatio: Double {
        let reads = hits + misses
        return reads == 0 ? 0 : Double(hits + tierHits) / Double(reads)
    }
}
