/// A loaded value with its own caching instructions, for sources that provide them.
public struct CacheLoaded<Value: Sendable>: Sendable {
    /// The value, or nil if there is none.
    public var value: Value?
    /// How long the value is fresh; nil for the configured expiry.
    public var expiry: CacheExpiry?
    /// How long the value may be served once stale; nil for the configured staleness.
    public var staleness: Duration?
    /// The cost of the value; nil to use the cache's cost function.
    public var cost: Int?
    /// Tags by which the value can be removed together with others.
    public var tags: [String]
    /// Whether the value may be stored at all.
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
