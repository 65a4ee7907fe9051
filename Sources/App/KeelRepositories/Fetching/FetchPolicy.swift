/// The sources of a value, and their order.
///
/// A value from the network is kept, and concurrent fetches of it are merged.
public enum FetchPolicy: Sendable, Hashable {
    /// The device's copy of any age; fails with `notCached` if there is none.
    case cacheOnly

    /// The device's copy if it is valid and not older than this; otherwise the network.
    ///
    /// If the source is unreachable or unavailable, a copy of any age is returned; nil sets no age limit.
    case cacheFirst(maxAge: Duration? = nil)

    /// The network; the device's copy if the source is unreachable or unavailable.
    case networkFirst

    /// The network only.
    case networkOnly

    /// The device's copy of any age, then the network's response.
    ///
    /// A single load returns the copy and refreshes it in the background.
    case cacheThenNetwork
}

/// The freshness of a value.
public enum Freshness: Sendable, Hashable {
    /// The value has just arrived from the source.
    case current
    /// The value is a copy within the policy's age limit.
    case cached(age: Duration)
    /// The value is a copy that is older, invalidated or of unknown age.
    case stale(age: Duration?)

    /// Whether the value may be outdated.
    public var isStale: Bool { if case .stale = self { true } else { false } }
}

/// A value with its freshness.
public struct Fetched<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value

    /// The freshness of the value.
    public let freshness: Freshness

    /// Creates a fetched value.
    public init(_ value: Value, _ freshness: Freshness) {
        self.value = value
        self.freshness = freshness
    }

    /// Transforms the value, keeping the freshness.
    public func map<Other: Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> Fetched<Other> {
        Fetched<Other>(try transform(value), freshness)
    }
}

extension Fetched: Equatable where Value: Equatable {}
