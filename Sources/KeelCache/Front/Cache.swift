internal import KeelCore
internal import Synchronization

/// Keeps values of one type under keys, in memory and, where it has one, in a tier below.
///
/// ```swift
/// let menus = Cache<Int, Menu>(CacheConfiguration(limits: .count(500), expiry: .minutes(10)))
/// let menu = try await menus.value(for: 7) { try await api.menu(7) }
/// ```
///
/// A cache in memory takes any `Sendable` value. Below memory values are bytes, by a
/// ``CacheCoding``; a ``CacheStore`` gives several caches of different types one budget and one tier.
///
/// - A value is returned only while its time lasts, from whatever tier; reading or moving it does
///   not renew that time.
/// - The limits hold at every moment, not after the next sweep.
/// - A load, a removal and a set of one key never leave an older value behind than the last that
///   began: what was loaded before a change is handed to those who waited, and not kept.
/// - The tier's failures never fail a read or ``set(_:for:expiry:staleness:cost:tags:)``: the value is
///   in memory, the failure is in ``statistics`` and ``events(keeping:)``. ``persist(_:for:expiry:staleness:cost:tags:)``
///   and removals throw, because then something else would be found later than was asked for.
///
/// Hits are answered without suspending, without an actor and without allocating. The keys' `==`
/// runs under a short lock, and must not call the cache.
public final class Cache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What the cache does where a call says nothing else.
    public let configuration: CacheConfiguration

    /// The memory's parts, nil where it is a store's, or where each use needs the time.
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
    /// Whether an entry costs the bytes that it has below memory.
    let countsBytes: Bool
    /// Whether an entry for which nothing is said needs nothing but a value.
    @usableFromInline let isSimple: Bool
    let flights = SingleFlight<FlightID<Key>, LoadOutcome<Value>>()
    let promotions = SingleFlight<FlightID<Key>, MemoryFound<Value>?>()
    let background = BackgroundLoads()

    /// Creates a cache in memory.
    ///
    /// - Parameters:
    ///   - configuration: Limits, times and how to load.
    ///   - clock: The time.
    ///   - cost: What a value costs; nil for 1, or for its bytes where the limits are in bytes. Called
    ///     outside of any lock.
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
    ///   - tier: Where values are kept below memory.
    ///   - name: What tells the cache's entries in the tier from those of others.
    ///   - coding: How keys and values become bytes.
    ///   - configuration: Limits, times and how to load.
    ///   - clock: The time; the tier should go by the same.
    ///   - cost: What a value costs; nil for 1, or for its bytes where the limits are in bytes. Called
    ///     outside of any lock.
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
        // Idleness is counted by the clock, so that the shortest way to a value is not for it.
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

    // MARK: Looking at it

    /// How many entries are in memory, with those whose time is over and that nobody met since.
    public var count: Int { memory.count }

    /// What the entries in memory cost.
    public var cost: Int { memory.cost }

    /// What the cache has done so far.
    public var statistics: CacheStatistics {
        var statistics = ledger.statistics
        let counts = memory.counts
        statistics.hits += counts.hits
        statistics.misses += counts.misses
        statistics.evictions += counts.evictions
        statistics.staleHits += counts.staleHits
        return statistics
    }

    /// How many calls wait for values that are being loaded.
    public var waiterCount: Int { flights.waiterCount }

    /// What happens to the cache's entries from now on.
    ///
    /// - Parameter limit: How many events wait for a slow reader, before it loses the oldest.
    /// - Returns: The events, without end.
    public func events(keeping limit: Int = 256) -> CacheEvents<Key> {
        ledger.events(keeping: limit)
    }
}

/// What a cache is made of.
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

/// What a cache over a tier is told.
struct CacheLowerParts<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    var tier: any CacheTier
    var name: String
    var coding: CacheCoding<Key, Value>
}

/// Names a flight: a key may have several, if it was changed meanwhile, or a tag was removed.
///
/// Which tags a value will have is not known before it is there. Whoever asks after a removal must
/// not get what was begun before it, whatever the tag.
struct FlightID<Key: Hashable & Sendable>: Hashable, Sendable {
    let key: Key
    /// What `CacheMemory.begin(_:)` gave.
    let generation: UInt64
    /// The tags' epoch.
    let stamp: UInt64
}
