/// What a cache has done since it was made.
public struct CacheStatistics: Hashable, Sendable {
    /// How many reads found a usable entry in memory; one that says that there is no value counts.
    public var hits = 0
    /// How many reads did not.
    public var misses = 0
    /// Of the misses, how many were found below memory.
    public var tierHits = 0
    /// How many loads returned a stale value.
    public var staleHits = 0
    /// How many loads were begun.
    public var loads = 0
    /// How many of them failed.
    public var loadFailures = 0
    /// How many values were not stored, because the key was changed while they were loaded.
    public var overtaken = 0
    /// How many entries had to make room in memory.
    public var evictions = 0
    /// How many entries were dropped because their time was over.
    public var expirations = 0
    /// How many entries were dropped because one of their tags was removed.
    public var invalidations = 0
    /// How many values were larger than memory's limit.
    public var refusals = 0
    /// How many calls of the tier below failed.
    public var tierFailures = 0
    /// How many entries below did not have the form of the cache's values.
    public var decodingFailures = 0

    /// Creates a statistics of nothing.
    public init() {}

    /// The part of reads that found something, at whatever tier; 0 before the first read.
    public var hitRatio: Double {
        let reads = hits + misses
        return reads == 0 ? 0 : Double(hits + tierHits) / Double(reads)
    }
}
