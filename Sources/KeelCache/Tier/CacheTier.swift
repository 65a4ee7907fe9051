/// A place below the memory of a cache that keeps entries as bytes.
///
/// Apps use ``Cache`` and ``CacheStore``; tiers implement this protocol and nothing more: typing,
/// loading, freshness and single flight belong to the front. A tier promises that
///
/// - ``read(_:)`` returns what was last written under the key, whole, or nothing: never bytes that
///   were not written, never a mixture, never an entry that has expired or was removed, by key, by
///   tag or with everything, before the read began;
/// - reading does not change an entry's times;
/// - ``write(_:)`` has accepted the records when it returns, and every later read sees them; they
///   may be lost with the process until ``flush()`` returns, and then in the order of writing, the
///   newest first;
/// - a removal is never undone by a crash after a later ``flush()``;
/// - the tier may forget any entry at any time to keep within its limits.
///
/// Run `CacheTierCheck` from `KeelConformance` against every new tier.
public protocol CacheTier: Sendable {
    /// Returns the record under a key, nil when there is none that may still be used.
    func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord?

    /// Takes records, each replacing what was under its key.
    func write(_ records: [CacheRecord]) async throws(CacheError)

    /// Forgets records.
    func remove(_ selection: CacheSelection) async throws(CacheError)

    /// Makes what was accepted before survive the end of the process.
    func flush() async throws(CacheError)

    /// Begins a value that is too large for memory, nil where the tier only keeps bytes.
    func makeFile() async throws(CacheError) -> (any CacheFileWriter)?

    /// What the tier holds and has done.
    func usage() async throws(CacheError) -> CacheTierUsage
}

/// Which entries of a tier a removal concerns.
public enum CacheSelection: Hashable, Sendable {
    /// Those under these keys.
    case keys([[UInt8]])
    /// Those that were written with this tag; takes the same time however many there are.
    case tag(String)
    /// Those that expired before this time.
    case expired(before: CacheInstant)
    /// All.
    case everything
}

/// What a tier holds and has done since it was opened.
public struct CacheTierUsage: Hashable, Sendable {
    /// How many entries it holds.
    public var entryCount: Int
    /// How many bytes it takes, on disk or in memory.
    public var byteCount: Int
    /// The most bytes it may take, nil where nothing limits them.
    public var byteLimit: Int?
    /// How many reads found something.
    public var hitCount: Int
    /// How many reads found nothing.
    public var missCount: Int
    /// How many entries had to make room.
    public var evictionCount: Int
    /// How many entries were found damaged, and were treated as missing.
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
