public import KeelCache
internal import KeelCore
package import KeelStorage
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A bounded memory of what loaders have read, so that the store is not asked again.
///
/// ```swift
/// let loader = ResourceLoader(
///     ledger: CollectionFetchLedger(storage),
///     memory: ResourceMemory(.bytes(8 << 20))
/// )
/// ```
///
/// It stands above what is kept on this device: memory, then the store, then the service, each
/// filled on the way back. It changes no answer. It promises that
///
/// - a read never finds what was there before a write, an invalidation or a forgetting of its loader
///   that had returned when the read began, also if another read was under way meanwhile;
/// - changes that others make in a collection, such as another repository or another process, are
///   followed through the store's change log: they count as soon as the log has brought them, for
///   SQLite at once in one process and some milliseconds later in another;
/// - while the log cannot be followed, or where a store has none, the store is asked each time.
///
/// A source of another kind tells nobody of changes: make them through the loader, or tell it by
/// ``ResourceLoader/invalidate(_:)``. The same holds for a ledger of your own over a store.
///
/// It is bounded by entries or by bytes: an entry costs the bytes that it has in the store, and one
/// whose source does not count them costs what it has as JSON, or 1,024. It holds values of the
/// domain, so that a hit costs neither decoding nor mapping.
public final class ResourceMemory: Sendable {
    private let store: CacheStore
    private let measures: Bool
    private let watches = Mutex(Watches())
    private let beginnings = SingleFlight<FollowedPlace, Bool>()
    private let counts = Mutex((hits: 0, misses: 0))
    /// How many wait in each cache, by the type of its values.
    private let waiters = Mutex<[ObjectIdentifier: @Sendable () -> Int]>([:])

    /// Creates an empty memory.
    ///
    /// - Parameter limits: How much it may hold, by `count(_:)` or by `bytes(_:)`.
    public init(_ limits: CacheLimits = .count(1_000)) {
        store = CacheStore(CacheConfiguration(limits: limits))
        measures = limits.cost != nil
    }

    /// How many values it holds, with those that were invalidated and that nobody met since.
    public var count: Int { store.count }

    /// The cost of the values that it holds.
    public var cost: Int { store.cost }

    /// How many reads it has answered.
    public var hits: Int { counts.withLock { $0.hits } }

    /// How many reads it could not answer.
    public var misses: Int { counts.withLock { $0.misses } }

    /// How many callers wait for what is being read.
    package var waiterCount: Int { waiters.withLock { $0.values.reduce(0) { $0 + $1() } } }

    /// Forgets everything, for example when somebody signs out.
    public func removeAll() async {
        await remove([Self.everything])
        // Now, and not when they are met: they may be somebody's.
        try? await store.removeExpired()
    }

    // MARK: For loaders

    /// What is remembered of a resource, if it is still what the store has.
    func peek<Value>(_ resource: Resource<Value>) -> Remembered<Value>? {
        let found = cache(of: Value.self).peek(resource.place)
        let isHit = found.map { isCurrent($0) } ?? false
        counts.withLock { if isHit { $0.hits += 1 } else { $0.misses += 1 } }
        return isHit ? found : nil
    }

    /// Reads a resource and remembers it, once for all who ask together.
    ///
    /// - Parameters:
    ///   - resource: What is read.
    ///   - scopes: Where changes to it are told.
    ///   - read: Reads it.
    /// - Returns: What was read.
    /// - Throws: What reading throws.
    func load<Value>(
        _ resource: Resource<Value>,
        following scopes: [StoreScope],
        _ read: @escaping @Sendable () async throws(DataSourceError) -> Remembered<Value>
    ) async throws(DataSourceError) -> Remembered<Value> {
        for scope in scopes where await !follow(scope) { return try await read() }
        // Whoever joined a reading that began before the last change reads again.
        for _ in 0..<3 {
            let found = try await share(resource, read)
            if isCurrent(found) { return found }
        }
        return try await read()
    }

    /// Forgets what has one of these tags, and what is being read of it.
    func remove(_ tags: Set<String>) async {
        // A cache without a tier has nothing that could fail.
        for tag in tags { try? await store.removeAll(tagged: tag) }
    }

    // MARK: Parts

    /// The tag of everything; no key of a resource and no tag has this form.
    private static let everything = "\u{0}"

    private func cache<Value>(of type: Value.Type) -> Cache<String, Remembered<Value>> {
        store.cacheInMemory("resources", key: String.self, value: Remembered<Value>.self)
    }

    private func share<Value>(
        _ resource: Resource<Value>,
        _ read: @escaping @Sendable () async throws(DataSourceError) -> Remembered<Value>
    ) async throws(DataSourceError) -> Remembered<Value> {
        let cache = cache(of: Value.self)
        waiters.withLock { $0[ObjectIdentifier(Value.self)] = { cache.waiterCount } }
        let tags = [Self.everything] + resource.tags
        let found: Remembered<Value>?
        do {
            found = try await cache.findValue(
                for: resource.place,
                policy: .refresh
            ) { [measures] in
                let copy = try await read()
                let cost = measures ? copy.cost : 1
                return CacheLoaded(copy, cost: cost, tags: tags, isStored: copy.isLasting)
            }
        } catch let error as DataSourceError {
            throw error
        } catch {
            throw DataSourceError(.cancelled, cause: error)
        }
        guard let found else { return try await read() }
        return found
    }

    private func isCurrent<Value>(_ found: Remembered<Value>) -> Bool {
        found.marks.allSatisfy { mark in
            let place = FollowedPlace(mark.scope)
            guard let watch = watches.withLock({ $0.byPlace[place] }) else { return false }
            return watch.isCurrent(mark.scope.document, since: mark.position)
        }
    }

    /// Sees to it that changes of a collection are followed.
    private func follow(_ scope: StoreScope) async -> Bool {
        let place = FollowedPlace(scope)
        let watch = watches.withLock { $0.watch(place) { StoreWatch(scope) } }
        if watch.isLive { return true }
        let begun = try? await beginnings.run(place) {
            if watch.isLive { return true }
            // A store that begins anew counts its states anew.
            if watch.hasEnded { await self.removeAll() }
            return await watch.begin()
        }
        return begun ?? false
    }

    /// The state of the last change that was seen in a collection, nil before the first.
    package func lastSeen(_ collection: CollectionPath, of client: StorageClient) -> ChangeCursor? {
        let place = FollowedPlace(StoreScope(client: client, collection: collection))
        return watches.withLock { $0.byPlace[place] }?.latest
    }
}

/// What is remembered of a resource.
struct Remembered<Value: Sendable>: Sendable {
    /// What is kept, or nil.
    let value: Value?
    /// When it was fetched, if that is known.
    let time: Date?
    /// The states of the stores that it was read from.
    let marks: [StoreMark]
    /// Whether it may be given to who asks later.
    let isLasting: Bool
    let bytes: Int?

    func map<Other: Sendable>(
        _ transform: (Value) throws(DataSourceError) -> Other
    ) throws(DataSourceError) -> Remembered<Other> {
        let other = try value.map { value throws(DataSourceError) in try transform(value) }
        return Remembered<Other>(
            value: other,
            time: time,
            marks: marks,
            isLasting: isLasting,
            bytes: bytes
        )
    }

    /// What it costs, with what the entry itself takes.
    var cost: Int { Self.overhead + (bytes ?? value.flatMap(Self.jsonBytes) ?? 1_024) }

    /// About what an entry takes beside the value.
    private static var overhead: Int { 256 }

    private static func jsonBytes(_ value: Value) -> Int? {
        guard let value = value as? any Encodable else { return nil }
        return try? JSONEncoder().encode(value).count
    }
}

/// The state of a store from which something was read.
struct StoreMark: Sendable {
    let scope: StoreScope
    let position: ChangeCursor
}

/// A collection of a client: copies of a client are one.
private struct FollowedPlace: Hashable, Sendable {
    let hub: ObjectIdentifier
    let collection: CollectionPath

    init(_ scope: StoreScope) {
        hub = ObjectIdentifier(scope.client.hub)
        collection = scope.collection
    }
}

/// The collections that are followed: up to 64, so that a memory of many does not grow.
private struct Watches {
    private(set) var byPlace: [FollowedPlace: StoreWatch] = [:]
    /// From the one that was begun first.
    private var order: [FollowedPlace] = []

    mutating func watch(_ place: FollowedPlace, _ make: () -> StoreWatch) -> StoreWatch {
        if let watch = byPlace[place] { return watch }
        if order.count == 64 { byPlace[order.removeFirst()] = nil }
        let watch = make()
        byPlace[place] = watch
        order.append(place)
        return watch
    }
}
