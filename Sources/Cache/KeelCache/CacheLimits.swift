/// The limits of a cache's memory.
///
/// Both limits hold at every moment. An entry that costs more than ``largestCost`` is refused, and the entry under its
/// key is dropped as out of date.
public struct CacheLimits: Hashable, Sendable {
    /// The maximum number of entries, or nil for no limit.
    public var count: Int?
    /// The maximum total cost of the entries, or nil for no limit.
    ///
    /// The cost of an entry is given when it is set, or by the cache's cost function; otherwise it is 1. Use
    /// ``bytes(_:)`` to limit bytes.
    public var cost: Int?
    /// Whether an entry without a given cost costs its size in bytes.
    private(set) var countsBytes = false

    /// Creates limits; values below 1 count as 1.
    public init(count: Int? = nil, cost: Int? = nil) {
        self.count = count.map { max(1, $0) }
        self.cost = cost.map { max(1, $0) }
    }

    /// Limits the number of entries.
    public static func count(_ count: Int) -> CacheLimits { CacheLimits(count: count) }

    /// Limits the total cost of the entries.
    public static func cost(_ cost: Int) -> CacheLimits { CacheLimits(cost: cost) }

    /// Limits the total size of the values, in bytes.
    ///
    /// The size of a value is that of its encoding by the cache's ``CacheCoding``. A cache without a coding counts
    /// bytes and strings as they are, `Encodable` values as JSON, and any other value as 1,024 bytes; each value is
    /// encoded when it is set. A cost function, or a cost given for an entry, replaces the measurement.
    ///
    /// Keys, and an overhead of about 100 bytes per entry, are not counted.
    public static func bytes(_ bytes: Int) -> CacheLimits {
        var limits = CacheLimits(cost: bytes)
        limits.countsBytes = true
        return limits
    }

    /// No limits.
    public static let none = CacheLimits()

    /// The maximum cost of a single entry, or nil for no limit.
    ///
    /// A large cache is divided into shards with equal shares of the limits, and an entry must fit into one shard. A
    /// cache is not divided if its cost limit is below 16 Mi (16,777,216) or its count limit below 2,048.
    public var largestCost: Int? { cost.map { $0 / shardCount } }

    /// The number of shards of a table with these limits: a power of two.
    @usableFromInline var shardCount: Int {
        var shards = 64
        if let count { shards = min(shards, count / 1_024) }
        if let cost { shards = min(shards, cost / (8 << 20), 4) }
        guard shards > 1 else { return 1 }
        return 1 << (Int.bitWidth - 1 - shards.leadingZeroBitCount)
    }

    @usableFromInline
    func part(_ index: Int, of parts: Int) -> CacheLimits {
        CacheLimits(
            count: count.map { $0 / parts + (index < $0 % parts ? 1 : 0) },
            cost: cost.map { $0 / parts + (index < $0 % parts ? 1 : 0) }
        )
    }
}
