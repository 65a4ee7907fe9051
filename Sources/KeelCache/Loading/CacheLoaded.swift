/// A loaded value with what the cache should do with it, for sources that say so themselves.
public struct CacheLoaded<Value: Sendable>: Sendable {
    /// The value, nil where there is none.
    public var value: Value?
    /// How long the value is fresh, nil for what the cache is configured to.
    public var expiry: CacheExpiry?
    /// For how much longer it may stand in, nil for what the cache is configured to.
    public var staleness: Duration?
    /// What it costs, nil for what the cache's cost function says.
    public var cost: Int?
    /// What it can be removed by, together with others.
    public var tags: [String]
    /// Whether the value may be kept at all.
    public var isStored: Bool

    /// Creates a loaded value.
    public init(
        _ value: Value?,
        expiry: CacheExpiry? = nil,
        staleness: Duration? = nil,
        cost: Int? = nil,
        tags: [String] = [],
        isStored: Bool = true
    ) {
        self.value = value
        self.expiry = expiry
        self.staleness = staleness
        self.cost = cost
        self.tags = tags
        self.isStored = isStored
    }
}
