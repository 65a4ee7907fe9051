/// How much a cache may hold in memory.
///
/// Both limits hold at every moment. An entry that alone costs more than ``largestCost`` is refused,
/// and what it would have replaced is dropped: the old value is not the right one any more.
public struct CacheLimits: Hashable, Sendable {
    /// The most entries, nil for any number.
    public var count: Int?
    /// The most that all entries together may cost, nil for any cost.
    ///
    /// What an entry costs is said when it is set, or by the cache's cost function: 1 where nobody
    /// says anything, so that this alone is no limit of bytes. ``bytes(_:)`` is one.
    public var cost: Int?
    /// Whether an entry costs its bytes where nobody says what it costs.
    private(set) var countsBytes = false

    /// Creates limits; those below 1 count as 1.
    public init(count: Int? = nil, cost: Int? = nil) {
        self.count = count.map { max(1, $0) }
        self.cost = cost.map { max(1, $0) }
    }

    /// Up to this many entries.
    public static func count(_ count: Int) -> CacheLimits { CacheLimits(count: count) }

    /// As many entries as together cost no more than this.
    public static func cost(_ cost: Int) -> CacheLimits { CacheLimits(cost: cost) }

    /// As many entries as together have no more bytes than this.
    ///
    /// What a value has is what it has as bytes: where a cache stands over a tier by its
    /// ``CacheCoding``, otherwise by itself for bytes and texts, and as JSON for what is `Encodable`.
    /// A value that is nothing of this counts 1,024: give such a cache a cost function that says how
    /// many bytes a value has. A cost that is said, for an entry or by a cost function, takes the
    /// place of measuring, which encodes each value when it is set.
    ///
    /// Keys and the memory's own part, about 100 bytes an entry, come on top.
    public static func bytes(_ bytes: Int) -> CacheLimits {
        var limits = CacheLimits(cost: bytes)
        limits.countsBytes = true
        return limits
    }

    /// No limit but the machine's.
    public static let none = CacheLimits()

    /// The highest cost of a single entry, nil for any.
    ///
    /// A large cache is divided into parts, each with its own lock and its share of the limit: an
    /// entry has to fit into one part. Limits on the cost below 16 million, and on the count below
    /// 2,048, are not divided.
    public var largestCost: Int? { cost.map { $0 / shardCount } }

    /// How many parts a table with these limits has: a power of two.
    @usableFromInline var shardCount: Int {
        var shards = 64
        if let count { shards = min(shards, count / 1_024) }
        if let cost { shards = min(shards, cost / (8 << 20), 4) }
        guard shards > 1 else { return 1 }
        return 1 << (Int.bitWidth - 1 - shards.leadingZeroBitCount)
    }

    /// The limits of one of a number of parts; their sum is the whole.
    @usableFromInline
    func part(_ index: Int, of parts: Int) -> CacheLimits {
        CacheLimits(
            count: count.map { $0 / parts + (index < $0 % parts ? 1 : 0) },
            cost: cost.map { $0 / parts + (index < $0 % parts ? 1 : 0) }
        )
    }
}
