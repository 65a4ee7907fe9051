/// A change to an entry of a cache, or a failure.
public struct CacheEvent<Key: Hashable & Sendable>: Sendable {
    /// The reason an entry left memory, or the failure that occurred.
    public enum Reason: Sendable {
        /// Memory dropped the entry to make room; the tier may still have it.
        case evicted
        /// The entry expired, or was unused for too long.
        case expired
        /// The entry was removed, by key or with all others.
        case removed
        /// One of the entry's tags was removed; sent when the entry is dropped, at its next access or by a sweep.
        case invalidated
        /// A new value replaced the entry.
        case replaced
        /// The value cost more than ``CacheLimits/largestCost``.
        case rejected
        /// The tier failed, or a key or value could not be encoded or decoded; the cache continued without the tier.
        case failed(CacheError)
    }

    /// The entry's key, or nil if the tier failed.
    public let key: Key?
    /// The reason for the event.
    public let reason: Reason
}

/// The events of a cache, from a call of ``Cache/events(keeping:)`` until the cache is deallocated.
public struct CacheEvents<Key: Hashable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = CacheEvent<Key>
    public typealias Failure = Never

    let stream: AsyncStream<CacheEvent<Key>>

    public func makeAsyncIterator() -> AsyncStream<CacheEvent<Key>>.Iterator {
        stream.makeAsyncIterator()
    }
}
