/// Where a value is looked for, and in which order.
///
/// Whatever the policy, a value that comes from the network is kept, and identical fetches that are
/// under way at once are one.
public enum FetchPolicy: Sendable, Hashable {
    /// Only on this device; `notKept` where it is not there.
    case cacheOnly

    /// On this device if it is there, not invalidated and not older than this; else the network.
    ///
    /// When nobody answers, what is kept is returned, however old; nil is no limit of age.
    case cacheFirst(maxAge: Duration? = nil)

    /// The network; when nobody answers, what is kept.
    case networkFirst

    /// Only the network.
    case networkOnly

    /// The kept value, however old, and then the network's answer.
    ///
    /// A single load returns what is kept and brings it up to date in the background.
    case cacheThenNetwork
}

/// How current a value is.
public enum Freshness: Sendable, Hashable {
    /// It has just come from the source.
    case current
    /// It was kept, and is as young as the policy asks for.
    case kept(age: Duration)
    /// It was kept and is older, was invalidated, or nobody knows how old it is.
    case stale(age: Duration?)

    /// Whether the value should be shown as one that may be out of date.
    public var isStale: Bool { if case .stale = self { true } else { false } }
}

/// A value with how current it is.
public struct Fetched<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value

    /// How current it is.
    public let freshness: Freshness

    /// Creates a fetched value.
    public init(_ value: Value, _ freshness: Freshness) {
        self.value = value
        self.freshness = freshness
    }

    /// The same with another value.
    public func map<Other: Sendable, Failure: Error>(
        _ transform: (Value) throws(Failure) -> Other
    ) throws(Failure) -> Fetched<Other> {
        Fetched<Other>(try transform(value), freshness)
    }
}

extension Fetched: Equatable where Value: Equatable {}
