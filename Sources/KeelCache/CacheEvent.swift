/// What happened to an entry of a cache, or to the tier below.
public struct CacheEvent<Key: Hashable & Sendable>: Sendable {
    /// Why an entry left, or what failed.
    public enum Reason: Sendable {
        /// It had to make room in memory; below memory it may still be.
        case evicted
        /// Its time was over, or it was not used for too long.
        case expired
        /// It was removed, by key or with everything.
        case removed
        /// One of its tags was removed. It is told when the entry is met.
        case invalidated
        /// Another value took its place.
        case replaced
        /// The value was larger than memory's limit.
        case refused
        /// The tier below failed; the cache went on without it.
        case failed(CacheError)
    }

    /// The entry's key, nil for what concerns no single one.
    public let key: Key?
    /// What happened.
    public let reason: Reason
}

/// The events of a cache from the call on, without end.
///
/// A reader that falls behind loses the oldest events, and keeps as many as it asked for.
public struct CacheEvents<Key: Hashable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = CacheEvent<Key>
    public typealias Failure = Never

    let stream: AsyncStream<CacheEvent<Key>>

    public func makeAsyncIterator() -> AsyncStream<CacheEvent<Key>>.Iterator {
        stream.makeAsyncIterator()
    }
}
