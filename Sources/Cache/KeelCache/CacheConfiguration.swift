/// The defaults of a cache, which single calls can override.
///
/// | age | name | effect |
/// |---|---|---|
/// | up to ``expiry`` | fresh | reads return the value |
/// | then for ``staleness`` | stale | a load may return it, if its policy allows that |
/// | after that | expired | no call returns it; the next access drops it |
/// | unused for ``timeToIdle`` | idle | as expired |
public struct CacheConfiguration: Sendable {
    /// The limits of memory; a cache of a ``CacheStore`` has the store's limits instead.
    public var limits: CacheLimits
    /// The time for which a value is fresh.
    public var expiry: CacheExpiry
    /// The time for which a stale value may be served while no new value is available.
    public var staleness: Duration
    /// The time after which an unused entry expires, or nil for no limit.
    ///
    /// Tiers do not count uses: an entry in a tier expires this long after it was written. The copy that memory reads
    /// from it stays as long as it is used, up to the expiry of the value.
    public var timeToIdle: Duration?
    /// The time for which the absence of a value is cached in memory, or nil to not cache it.
    public var absenceExpiry: CacheExpiry?
    /// The default policy for loading values.
    public var policy: CachePolicy

    /// Creates a configuration: by default, 10,000 entries that never expire.
    public init(
        limits: CacheLimits = .count(10_000),
        expiry: CacheExpiry = .never,
        staleness: Duration = .zero,
        timeToIdle: Duration? = nil,
        absenceExpiry: CacheExpiry? = nil,
        policy: CachePolicy = .cacheFirst
    ) {
        self.limits = limits
        self.expiry = expiry
        self.staleness = staleness
        self.timeToIdle = timeToIdle
        self.absenceExpiry = absenceExpiry
        self.policy = policy
    }
}

extension Int64 {
    func cacheAdding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
