internal import KeelCore

/// A cache that maps keys to values of one type, in memory and optionally in a tier below.
///
/// ```swift
/// let menus = Cache<Int, Menu>(CacheConfiguration(limits: .count(500), expiry: .minutes(10)))
/// let menu = try await menus.value(for: 7) { try await api.menu(7) }
/// ```
///
/// In memory, a cache holds any `Sendable` value. A tier stores bytes, encoded by a ``CacheCoding``. Several caches
/// share one budget and one tier in a ``CacheStore``.
///
/// - An expired value is never returned, whether it comes from memory or the tier. Reading or moving a value does not
///   extend its lifetime.
/// - The limits are enforced with each change, not by a later sweep.
/// - Concurrent loads, sets and removals of a key never leave a value older than the last change: a value whose load
///   began before a change is returned to its waiters but not stored.
/// - A failing tier does not fail reads or ``set(_:for:expiry:staleness:cost:tags:)``: ``statistics`` and
///   ``events(keeping:)`` report the failure. ``setDurably(_:for:expiry:staleness:cost:tags:)``, ``flush()`` and
///   removals throw.
///
/// Hits in memory do not suspend and, except in a cache of a store, do not allocate. The `==` of the keys runs under a
/// lock and must not call the cache.
public final class Cache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The defaults of the cache.
    public let configuration: CacheConfiguration

    /// The shards of the memory; nil if a store owns the memory, or if each use needs the time.
    ///
    /// `own` keeps them alive.
    @usableFromInline let parts: MemoryParts<Key, Value>?
    @usableFromInline let own: OwnMemory<Key, Value>?
    let memory: any CacheMemory<Key, Value>
    let ledger: CacheLedger<Key>
    let board: TagBoard
    let lower: CacheLower<Key, Value>?
    @usableFromInline let clock: CacheClock
    @usableFromInline let costOf: (@Sendable (Value) -> Int)?
    let countsBytes: Bool
    /// Whether an entry without its own expiry, staleness and tags needs no more than its value.
    @usableFromInline let isSimple: Bool
    let flights = SingleFlight<FlightID<Key>, LoadOutcome<Value>>()
    let promotions = SingleFlight<FlightID<Key>, MemoryFound<Value>?>()
    let background = BackgroundLoads()

    /// Creates a cache in memory.
    ///
    /// - Parameters:
    ///   - configuration: The limits, times and loading policy.
    ///   - clock: The source of time.
    ///   - cost: Returns the cost of a value, called outside any lock; nil for 1, or for the value's size with limits
    ///     in bytes.
    public convenience init(
        _ configuration: CacheConfiguration = CacheConfiguration(),
        clock: CacheClock = .system,
        cost: (@Sendable (Value) -> Int)? = nil
    ) {
        self.init(own: configuration, lower: nil, clock: clock, cost: cost)
    }

    /// Creates a cache in memory over a tier.
    ///
    /// - Parameters:
    ///   - tier: The tier that keeps values below memory.
    ///   - name: The name that separates the cache's entries in the tier from those of other caches.
    ///   - coding: Converts keys and values to bytes and back.
    ///   - configuration: The limits, times and loading policy.
    ///   - clock: The source of time; the tier should use the same.
    ///   - cost: Returns the cost of a value, called outside any lock; nil for 1, or for the value's size with limits
    ///     in bytes.
    public convenience init(
        over tier: any CacheTier,
        name: String,
        coding: CacheCoding<Key, Value>,
        _ configuration: CacheConfiguration = CacheConfiguration(),
        clock: CacheClock = .system,
        cost: (@Sendable (Value) -> Int)? = nil
    ) {
        let lower = CacheLowerParts(tier: tier, name: name, coding: coding)
        self.init(own: configuration, lower: lower, clock: clock, cost: cost)
    }

    private convenience init(
        own configuration: CacheConfiguration,
        lower: CacheLowerParts<Key, Value>?,
        clock: CacheClock,
        cost: (@Sendable (Value) -> Int)?
    ) {
        let table = MemoryTable<Key, Value>(limits: configuration.limits)
        let ledger = CacheLedger<Key>()
        let own = OwnMemory(table, ledger)
        self.init(
            CacheParts(
                configuration: configuration,
                own: own,
                memory: own,
                ledger: ledger,
                board: TagBoard(),
                lower: lower.map { parts in
                    let queue = TierQueue(parts.tier) { ledger.failed($0) }
                    return CacheLower(queue: queue, name: parts.name, coding: parts.coding)
                },
                clock: clock,
                cost: CacheBytes.cost(cost, configuration.limits, lower?.coding),
                countsBytes: cost == nil && configuration.limits.countsBytes
            )
        )
    }

    init(_ parts: CacheParts<Key, Value>) {
        configuration = parts.configuration
        // Idle times need the clock on every use, so the shortest path is closed to them.
        self.parts = parts.configuration.timeToIdle == nil ? parts.own?.table.parts : nil
        own = parts.own
        memory = parts.memory
        ledger = parts.ledger
        board = parts.board
        lower = parts.lower
        clock = parts.clock
        costOf = parts.cost
        countsBytes = parts.countsBytes
        isSimple =
            self.parts != nil && parts.lower == nil && parts.configuration.expiry == .never
    }

    // MARK: Inspecting

    /// The number of entries in memory, including expired entries not yet dropped.
    public var count: Int { memory.count }

    /// The total cost of the entries in memory; for a cache of a store, that of all caches of the store.
    public var cost: Int { memory.cost }

    /// The counts of the cache since it was created.
    public var statistics: CacheStatistics {
        var statistics = ledger.statistics
        let counts = memory.counts
        statistics.hits += counts.hits
        statistics.misses += counts.misses
        statistics.evictions += counts.evictions
        statistics.staleHits += counts.staleHits
        return statistics
    }

    /// The number of calls that wait for a shared load; a load in the background counts as one.
    public var waiterCount: Int { flights.waiterCount }

    /// Returns the events of the cache from now on.
    ///
    /// - Parameter limit: The number of events buffered for a slow reader; older ones are lost.
    /// - Returns: The events, until the cache is deallocated.
    public func events(keeping limit: Int = 256) -> CacheEvents<Key> {
        ledger.events(keeping: limit)
    }
}

struct CacheParts<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    var configuration: CacheConfiguration
    var own: OwnMemory<Key, Value>?
    var memory: any CacheMemory<Key, Value>
    var ledger: CacheLedger<Key>
    var board: TagBoard
    var lower: CacheLower<Key, Value>?
    var clock: CacheClock
    var cost: (@Sendable (Value) -> Int)?
    var countsBytes = false
}

struct CacheLowerParts<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    var tier: any CacheTier
    var name: String
    var coding: CacheCoding<Key, Value>
}

/// The identity of a flight; a key has several after it or a tag changes during a load.
///
/// The tags of a value are not known before it is loaded, so a call after the removal of any tag must not share an
/// earlier load.
struct FlightID<Key: Hashable & Sendable>: Hashable, Sendable {
    let key: Key
    let generation: UInt64
    let stamp: UInt64
}
