internal import Synchronization

/// A group of caches of different types that share one memory budget and one tier.
///
/// ```swift
/// let store = CacheStore(CacheConfiguration(limits: .bytes(64 << 20)), over: tier)
/// let restaurants = store.cache("restaurants", key: String.self, value: Restaurant.self)
/// let ratings = store.cache("ratings", key: Int.self, value: Double.self)
/// ```
///
/// When a cache needs room, the least valuable entries of all caches are evicted. A tag applies to the entries of all
/// caches. Hits cost a little more than in a separate ``Cache``.
public final class CacheStore: Sendable {
    /// The defaults of the store's caches.
    public let configuration: CacheConfiguration
    private let table: SharedMemory<Int, Int>.Table
    private let board = TagBoard()
    private let queue: TierQueue?
    private let clock: CacheClock
    private let caches = Mutex<[CacheName: any StoreCache]>([:])
    private let failures = TierFailures()

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - configuration: The limits of all caches together; the times and policy of each.
    ///   - tier: The tier that keeps values below memory, or nil for memory alone.
    ///   - clock: The source of time; the tier should use the same.
    public init(
        _ configuration: CacheConfiguration = CacheConfiguration(),
        over tier: (any CacheTier)? = nil,
        clock: CacheClock = .system
    ) {
        self.configuration = configuration
        table = MemoryTable(limits: configuration.limits)
        let failures = failures
        queue = tier.map { TierQueue($0) { failures.tell($0) } }
        self.clock = clock
    }

    // MARK: Caches

    /// Returns the cache of a name, for codable values.
    ///
    /// A later call with the same name, types and format returns the same cache, as first configured.
    ///
    /// - Parameters:
    ///   - name: The name that separates the cache's entries from those of others.
    ///   - key: The type of the keys.
    ///   - value: The type of the values.
    ///   - coding: The conversion to bytes; nil stores bytes and strings unchanged, others as JSON.
    ///   - configuration: The cache's times and policy, without its limits; nil for the store's.
    ///   - cost: Returns the cost of a value; nil for 1, or for its size with limits in bytes.
    /// - Returns: The cache.
    public func cache<Key: Hashable & Sendable & Encodable, Value: Sendable & Codable>(
        _ name: String,
        key: Key.Type,
        value: Value.Type,
        coding: CacheCoding<Key, Value>? = nil,
        configuration: CacheConfiguration? = nil,
        cost: (@Sendable (Value) -> Int)? = nil
    ) -> Cache<Key, Value> {
        cache(name, coding ?? .standard, configuration, cost)
    }

    /// Returns the cache of a name, for values with a custom coding.
    ///
    /// The parameters are those of ``cache(_:key:value:coding:configuration:cost:)``.
    public func cache<Key: Hashable & Sendable, Value: Sendable>(
        _ name: String,
        coding: CacheCoding<Key, Value>,
        configuration: CacheConfiguration? = nil,
        cost: (@Sendable (Value) -> Int)? = nil
    ) -> Cache<Key, Value> {
        cache(name, coding, configuration, cost)
    }

    /// Returns the cache of a name that stays in memory, for values of any type.
    ///
    /// The parameters are those of ``cache(_:key:value:coding:configuration:cost:)``.
    public func memoryCache<Key: Hashable & Sendable, Value: Sendable>(
        _ name: String,
        key: Key.Type,
        value: Value.Type,
        configuration: CacheConfiguration? = nil,
        cost: (@Sendable (Value) -> Int)? = nil
    ) -> Cache<Key, Value> {
        cache(name, nil, configuration, cost)
    }

    private func cache<Key: Hashable & Sendable, Value: Sendable>(
        _ name: String,
        _ coding: CacheCoding<Key, Value>?,
        _ configuration: CacheConfiguration?,
        _ cost: (@Sendable (Value) -> Int)?
    ) -> Cache<Key, Value> {
        let id = CacheName(
            name: name,
            format: coding?.format,
            key: ObjectIdentifier(Key.self),
            value: ObjectIdentifier(Value.self)
        )
        return caches.withLock { caches in
            if let cache = caches[id] as? Cache<Key, Value> { return cache }
            let cache = make(name, coding, configuration ?? self.configuration, cost)
            caches[id] = cache
            return cache
        }
    }

    private func make<Key: Hashable & Sendable, Value: Sendable>(
        _ name: String,
        _ coding: CacheCoding<Key, Value>?,
        _ configuration: CacheConfiguration,
        _ cost: (@Sendable (Value) -> Int)?
    ) -> Cache<Key, Value> {
        let ledger = CacheLedger<Key>()
        if coding != nil { failures.add { ledger.failed($0) } }
        return Cache(
            CacheParts(
                configuration: configuration,
                memory: SharedMemory<Key, Value>(table, ledger),
                ledger: ledger,
                board: board,
                lower: coding.flatMap { coding in
                    queue.map { CacheLower(queue: $0, name: name, coding: coding) }
                },
                clock: clock,
                cost: CacheBytes.cost(cost, self.configuration.limits, coding),
                countsBytes: cost == nil && self.configuration.limits.countsBytes
            )
        )
    }

    // MARK: All caches

    /// The number of entries of all caches in memory.
    public var count: Int { table.count }

    /// The total cost of the entries of all caches in memory.
    public var cost: Int { table.cost }

    /// Removes the values of all caches from memory, and empties the tier.
    ///
    /// The tier also loses entries that other programs or versions left in it.
    ///
    /// - Throws: ``CacheError`` if the tier failed.
    public func removeAll() async throws(CacheError) {
        // The order matters, for the reason in `Cache.removeAll()`.
        table.overtakeAll()
        let id = queue?.add(.remove(.everything))
        for cache in caches.withLock({ Array($0.values) }) { cache.forgetMemory() }
        if let id, let error = await queue?.finish(id) { throw error }
    }

    /// Removes all values with a tag from all caches, in memory and the tier, in constant time.
    ///
    /// - Throws: ``CacheError`` if the tier failed.
    public func removeAll(tagged tag: String) async throws(CacheError) {
        var id: UInt64?
        board.remove(tag) { id = queue?.add(.remove(.tag(tag))) }
        if let id, let error = await queue?.finish(id) { throw error }
    }

    /// Drops expired entries from memory and the tier, and entries with removed tags from memory.
    ///
    /// - Throws: ``CacheError`` if the tier failed.
    public func removeExpired() async throws(CacheError) {
        let now = clock.now
        for cache in caches.withLock({ Array($0.values) }) { cache.sweepMemory(at: now) }
        guard let queue else { return }
        if let error = await queue.finish(queue.add(.remove(.expired(by: now)))) {
            throw error
        }
    }

    /// Returns when the values set so far survive the end of the process, if the tier outlives the process.
    ///
    /// - Throws: ``CacheError`` if the flush failed.
    public func flush() async throws(CacheError) {
        guard let queue else { return }
        if let error = await queue.finish(queue.add(.flush)) { throw error }
    }

    /// Returns the contents and activity of the tier, or nil if there is no tier.
    ///
    /// - Throws: ``CacheError`` if the tier failed.
    public func tierUsage() async throws(CacheError) -> CacheTierUsage? {
        guard let tier = queue?.tier else { return nil }
        return try await tier.usage()
    }
}

private struct CacheName: Hashable, Sendable {
    let name: String
    let format: String?
    let key: ObjectIdentifier
    let value: ObjectIdentifier
}

private protocol StoreCache: Sendable {
    func forgetMemory()
    func sweepMemory(at now: CacheInstant)
}

extension Cache: StoreCache {
    fileprivate func forgetMemory() { memory.removeAll() }
    fileprivate func sweepMemory(at now: CacheInstant) {
        memory.sweep(at: now.microseconds, board)
    }
}

final class TierFailures: Sendable {
    private let listeners = Mutex<[@Sendable (CacheError) -> Void]>([])

    func add(_ listener: @escaping @Sendable (CacheError) -> Void) {
        listeners.withLock { $0.append(listener) }
    }

    func tell(_ error: CacheError) {
        for listener in listeners.withLock({ $0 }) { listener(error) }
    }
}
