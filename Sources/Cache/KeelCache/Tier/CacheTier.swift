/// A store below a cache's memory that keeps entries as bytes.
///
/// Apps use ``Cache`` and ``CacheStore``. Tiers implement only this protocol: typing, loading,
/// freshness and single flight belong to the front. A tier promises that
///
/// - ``read(_:)`` returns the last value written under the key, whole, or nothing. It never returns other bytes, nor an
///   entry that expired or was removed (by key, by tag or with everything) before the read began;
/// - reading does not change an entry's times;
/// - ``write(_:)`` has accepted the records when it returns, and every later read sees them. Until ``flush()`` returns,
///   a process that ends can lose them, the newest first;
/// - a crash after a later ``flush()`` never undoes a removal;
/// - the tier may drop any entry at any time to keep within its limits.
///
/// Run `CacheTierCheck` from `KeelConformance` against every new tier.
public protocol CacheTier: Sendable {
    /// Returns the record for a key, or nil if the tier has no usable record.
    func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord?

    /// Stores records, each replacing the record under its key.
    func write(_ records: [CacheRecord]) async throws(CacheError)

    /// Removes the selected records.
    func remove(_ selection: CacheSelection) async throws(CacheError)

    /// Makes accepted changes survive the end of the process.
    func flush() async throws(CacheError)

    /// Starts a value too large for memory; returns nil if the tier keeps only bytes.
    func makeFile() async throws(CacheError) -> (any CacheFileWriter)?

    /// Returns the contents and activity of the tier.
    func usage() async throws(CacheError) -> CacheTierUsage
}

/// The entries of a tier to remove.
public enum CacheSelection: Hashable, Sendable {
    /// The entries under these keys.
    case keys([[UInt8]])
    /// The entries written with a tag; takes constant time.
    case tag(String)
    /// The entries that expire at or before a time.
    case expired(by: CacheInstant)
    /// All entries.
    case everything
}

/// The contents of a tier, and its activity since it was opened.
public struct CacheTierUsage: Hashable, Sendable {
    /// The number of entries.
    public var entryCount: Int
    /// The bytes used, on disk or in memory.
    public var byteCount: Int
    /// The maximum number of bytes, or nil for no limit.
    public var byteLimit: Int?
    /// Reads that found an entry.
    public var hitCount: Int
    /// Reads that found none.
    public var missCount: Int
    /// Entries evicted to make room.
    public var evictionCount: Int
    /// Damage found; damaged entries count as missing.
    public var damagedCount: Int

    /// Creates the usage of a tier.
    public init(
        entryCount: Int = 0,
        byteCount: Int = 0,
        byteLimit: Int? = nil,
        hitCount: Int = 0,
        missCount: Int = 0,
        evictionCount: Int = 0,
        damagedCount: Int = 0
    ) {
        self.entryCount = entryCount
        self.byteCount = byteCount
        self.byteLimit = byteLimit
        self.hitCount = hitCount
        self.missCount = missCount
        self.evictionCount = evictionCount
        self.damagedCount = damagedCount
    }
}
