internal import Synchronization

/// Caches of different types that share one budget of memory and one tier below.
///
/// ```swift
/// let store = CacheStore(CacheConfiguration(limits: .bytes(64 << 20)), over: tier)
/// let restaurants = store.cache("restaurants", key: String.self, value: Restaurant.self)
/// let ratings = store.cache("ratings", key: Int.self, value: Double.self)
/// ```
///
/// Whichever cache needs room, the entries that are worth least of all make it. A tag concerns the
/// entries of all caches of the store. Hits cost a little more than in a ``Cache`` of its own,
/// because the memory does not know the types.
public final class CacheStore: Sendable {
    /// What the store's caches do where nothing else is said.
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
    ///   - configuration: The limits of all caches together; times and policy of each.
    ///   - tier: Where values are kept below memory; nil for memory alone.
    ///   - clock: The time; the tier should go by the same.
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

    /// The cache of a name, for values that can be encoded.
    ///
    /// Asking again for the same name and types gives the same cache, as it was made first.
    ///
    /// - Parameters:
    ///   - name: What tells its entries from those of others.
    ///   - key: The type of its keys.
    ///   - value: The type of its values.
    ///   - coding: How they become bytes; nil for bytes and texts as they are, and others as JSON.
    ///   - configuration: Its times and policy; nil for the store's. The limits are the store's.
    ///   - cost: What a value costs; nil for 1, or for its bytes where the limits are in bytes.
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

    /// The cache of a name, for values with a coding of your own.
    ///
    /// - Parameters:
    ///   - name: What tells its entries from those of others.
    ///   - coding: How keys and values become bytes.
    ///   - configuration: Its times and policy; nil for the store's. The limits are the store's.
    ///   - cost: What a value costs; nil for 1, or for its bytes where the limits are in bytes.
    /// - Returns: The cache.
    public func cache<Key: Hashable & Sendable, Value: Sendable>(
        _ name: String,
        coding: CacheCoding<Key, Value>,
        configuration: CacheConfiguration? = nil,
        cost: (@Sendable (Value) -> Int)? = nil
    ) -> Cache<Key, Value> {
        cache(name, coding, configuration, cost)
    }

    /// The cache of a name that stays in memory, for values of any type.
    ///
    /// - Parameters:
    ///   - name: What tells it from others.
    ///   - key: The type of its keys.
    ///   - value: The type of its values.
    ///   - configuration: Its times and policy; nil for the store's. The limits are the store's.
    ///   - cost: What a value costs; nil for 1, or for its bytes where the limits are in bytes.
    /// - Returns: The cache.
    public func cacheInMemory<Key: Hashable & Sendable, Value: Sendable>(
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

    /// How many entries of all caches are in memory.
    public var count: Int { table.count }

    /// What the entries of all caches in memory cost.
    public var cost: Int { table.cost }

    /// Forgets the values of all caches, in memory and below.
    ///
    /// It empties the tier, with what other programs or versions left in it.
    ///
    /// - Throws: ``CacheError`` when the tier did not forget them.
    public func removeAll() async throws(CacheError) {
        // In this order for the reason that `Cache.removeAll()` gives.
        table.overtakeAll()
        let id = queue?.add(.remove(.everything))
        for cache in caches.withLock({ Array($0.values) }) { cache.forgetMemory() }
        if let id, let error = await queue?.finish(id) { throw error }
    }

    /// Forgets the values of all caches that were stored with a tag, in memory and below.
    ///
    /// It takes the same time however many there are.
    ///
    /// - Parameter tag: The tag.
    /// - Throws: ``CacheError`` when the tier did not forget them.
    public func removeAll(tagged tag: String) async throws(CacheError) {
        var id: UInt64?
        board.remove(tag) { id = queue?.add(.remove(.tag(tag))) }
        if let id, let error = await queue?.finish(id) { throw error }
    }

    /// Drops entries whose time is over, or one of whose tags was removed, in memory and below.
    ///
    /// - Throws: What the tier throws.
    public func removeExpired() async throws(CacheError) {
        let now = clock.now
        for cache in caches.withLock({ Array($0.values) }) { cache.sweepMemory(at: now) }
        guard let queue else { return }
        if let error = await queue.finish(queue.add(.remove(.expired(before: now)))) {
            throw error
        }
    }

    /// Makes what was set before survive the end of the program.
    ///
    /// - Throws: What the tier throws.
    public func flush() async throws(CacheError) {
        guard let queue else { return }
        if let error = await queue.finish(queue.add(.flush)) { throw error }
    }

    /// What the tier holds and has done, nil where there is none.
    ///
    /// - Throws: What the tier throws.
    public func tierUsage() async throws(CacheError) -> CacheTierUsage? {
        guard let tier = queue?.tier else { return nil }
        return try await tier.usage()
    }
}

/// What a store's cache is found by.
private struct CacheName: Hashable, Sendable {
    let name: String
    let format: String?
    let key: ObjectIdentifier
    let value: ObjectIdentifier
}

/// A cache of whatever types.
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

/// Tells all caches over a tier of its failures.
final class TierFailures: Sendable {
    private let listeners = Mutex<[@Sendable (CacheError) -> Void]>([])

    func add(_ listener: @escaping @Sendable (CacheError) -> Void) {
        listeners.withLock { $0.append(listener) }
    }

    func tell(_ error: CacheError) {
        for listener in listeners.withLock({ $0 }) { listener(error) }
    }
}
