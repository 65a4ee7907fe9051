/// What a cache does where a call says nothing else.
///
/// | time | name | what happens |
/// |---|---|---|
/// | up to ``expiry`` | fresh | every read returns the value |
/// | then for ``staleness`` | stale | only a load may return it, where its policy allows that |
/// | after that | expired | nobody gets it; it is dropped when it is met |
/// | unused for ``timeToIdle`` | idle | as expired |
public struct CacheConfiguration: Sendable {
    /// How much may be held in memory; a view of a ``CacheStore`` has the store's limits instead.
    public var limits: CacheLimits
    /// How long a value is fresh.
    public var expiry: CacheExpiry
    /// For how much longer a value may stand in while a new one cannot be had.
    public var staleness: Duration
    /// How long an entry is kept without being used, nil for as long as there is room.
    ///
    /// Below memory nobody counts uses: there the time runs from writing.
    public var timeToIdle: Duration?
    /// How long it is remembered that a value does not exist, nil for not at all.
    public var absenceExpiry: CacheExpiry?
    /// How values are loaded.
    public var policy: CachePolicy

    /// Creates a configuration: 10,000 entries that never expire.
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

extension Duration {
    /// The duration in microseconds, held within what 64 bits can count.
    var cacheMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        if overflows { return seconds < 0 ? .min : .max }
        let sum = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        return sum.overflow ? .max : sum.partialValue
    }
}

extension Int64 {
    /// The sum, held at the end of what 64 bits can count.
    func cacheAdding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
