/// How much a cache may hold in memory.
///
/// Both limits hold at every moment. An entry that alone costs more than ``largestCost`` is refused,
/// and what it would have replaced is dropped: the old value is not the right one any more.
public struct CacheLimits: Hashable, Sendable {
    /// The most entries, nil for any number.
    public var count: Int?
    /// The most that all entries together may cost, nil for any cost.
    ///
    /// The cost of an entry is given when it is set, or by the cache's cost function; otherwise it is
    /// 1, so that this alone does not limit bytes. ``bytes(_:)`` does.
    public var cost: Int?
    /// Whether an entry without a given cost costs its bytes.
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
    /// A value's bytes are those that the ``CacheCoding`` of a cache over a tier makes of it. In a cache
    /// without a tier, bytes and texts count as they are, and `Encodable` values as JSON. Any other
    /// value counts 1,024: give such a cache a cost function that returns a value's bytes. A cost
    /// given for an entry or by a cost function replaces the measuring, which encodes each value when
    /// it is set.
    ///
    /// Keys and about 100 bytes for each entry are not counted.
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
