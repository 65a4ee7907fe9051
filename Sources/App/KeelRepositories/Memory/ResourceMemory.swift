public import KeelCache
internal import KeelCore
package import KeelStorage
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A bounded cache of loaded values, which saves reads of the store.
///
/// ```swift
/// let loader = ResourceLoader(
///     ledger: CollectionFetchLedger(storage),
///     memory: ResourceMemory(.bytes(8 << 20))
/// )
/// ```
///
/// The cache promises that
///
/// - a read never returns a value that a write, an invalidation or a removal by its loader replaced before the read
///   began, even if another read was in progress;
/// - changes that another repository or process makes to a collection take effect when the store's change log delivers
///   them: with SQLite, immediately in the same process, and some milliseconds later in another;
/// - while the log cannot be followed, or if a store has none, the store is read each time; during an outage of
///   both, the value that was read last is returned.
///
/// Other kinds of sources and ledgers report no changes: make them through the loader, or call
/// ``ResourceLoader/invalidate(_:)``.
///
/// The cache is bounded by entries or by bytes. In bytes, an entry costs its size in the store or, if that is unknown,
/// its size as JSON or else 1,024, plus 256.
public final class ResourceMemory: Sendable {
    private let store: CacheStore
    private let measures: Bool
    private let watches = Mutex(Watches())
    private let beginnings = SingleFlight<FollowedPlace, Bool>()
    private let counts = Mutex((hits: 0, misses: 0))
    /// The number of waiting callers per cache, by the type of its values.
    private let waiters = Mutex<[ObjectIdentifier: @Sendable () -> Int]>([:])

    /// Creates an empty memory.
    ///
    /// - Parameter limits: The bound, by `count(_:)` or by `bytes(_:)`.
    public init(_ limits: CacheLimits = .count(1_000)) {
        store = CacheStore(CacheConfiguration(limits: limits))
        measures = limits.cost != nil
    }

    /// The number of values, including invalidated ones that were not accessed since.
    public var count: Int { store.count }

    /// The total cost of the values.
    public var cost: Int { store.cost }

    /// The number of reads answered from memory.
    public var hits: Int { counts.withLock { $0.hits } }

    /// The number of reads that memory could not answer.
    public var misses: Int { counts.withLock { $0.misses } }

    /// The number of callers that wait for reads.
    package var waiterCount: Int { waiters.withLock { $0.values.reduce(0) { $0 + $1() } } }

    /// Removes everything.
    public func removeAll() async {
        await remove([Self.everything])
        // Immediately and not on the next access, since they may be personal.
        try? await store.removeExpired()
    }

    // MARK: For loaders

    func peek<Value>(_ resource: Resource<Value>) -> Remembered<Value>? {
        let found = cache(of: Value.self).peek(resource.place)
        let isHit = found.map { isCurrent($0, evenIfLost: false) } ?? false
        counts.withLock { if isHit { $0.hits += 1 } else { $0.misses += 1 } }
        return isHit ? found : nil
    }

    /// Reads a resource and caches it under the scopes for changes to it, merging concurrent calls.
    func load<Value>(
        _ resource: Resource<Value>,
        following scopes: [StoreScope],
        _ read: @escaping @Sendable () async throws(DataSourceError) -> Remembered<Value>
    ) async throws(DataSourceError) -> Remembered<Value> {
        for scope in scopes where await !follow(scope) { return try await read() }
        do throws(DataSourceError) {
            // A caller that joined an outdated read must read again.
            for _ in 0..<3 {
                let found = try await share(resource, read)
                if isCurrent(found) { return found }
            }
            return try await read()
        } catch {
            // As nobody can read the store now, the value may lack changes.
            guard error.storageError?.isTransient == true,
                let found = cache(of: Value.self).peek(resource.place), isCurrent(found)
            else { throw error }
            return found
        }
    }

    /// Removes copies with one of these tags, and discards reads in progress.
    func remove(_ tags: Set<String>) async {
        // A cache without a tier cannot fail.
        for tag in tags { try? await store.removeAll(tagged: tag) }
    }

    // MARK: Parts

    /// The tag of all entries, which no resource can have.
    private static let everything = "\u{0}"

    private func cache<Value>(of type: Value.Type) -> Cache<String, Remembered<Value>> {
        store.memoryCache("resources", key: String.self, value: Remembered<Value>.self)
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

    private func isCurrent<Value>(
        _ found: Remembered<Value>,
        evenIfLost: Bool = true
    ) -> Bool {
        found.marks.allSatisfy { mark in
            let place = FollowedPlace(mark.scope)
            guard let watch = watches.withLock({ $0.byPlace[place] }) else { return false }
            return watch.isCurrent(
                mark.scope.document,
                since: mark.position,
                evenIfLost: evenIfLost
            )
        }
    }

    private func follow(_ scope: StoreScope) async -> Bool {
        let place = FollowedPlace(scope)
        let watch = watches.withLock { $0.watch(place) { StoreWatch(scope) } }
        if watch.isLive { return true }
        let begun = try? await beginnings.run(place) {
            if watch.isLive { return true }
            // A restarted change log invalidates earlier positions.
            if watch.hasEnded { await self.removeAll() }
            return await watch.begin()
        }
        return begun ?? false
    }

    /// The position of the last seen change in a collection; nil before the first.
    package func lastSeen(_ collection: CollectionPath, of client: StorageClient) -> ChangeCursor? {
        let place = FollowedPlace(StoreScope(client: client, collection: collection))
        return watches.withLock { $0.byPlace[place] }?.latest
    }
}

struct Remembered<Value: Sendable>: Sendable {
    let value: Value?
    /// The time of the fetch, if known.
    let time: Date?
    /// The positions of the stores it was read from.
    let marks: [StoreMark]
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

    var cost: Int { Self.overhead + (bytes ?? value.flatMap(Self.jsonBytes) ?? 1_024) }

    private static var overhead: Int { 256 }

    private static func jsonBytes(_ value: Value) -> Int? {
        guard let value = value as? any Encodable else { return nil }
        return try? JSONEncoder().encode(value).count
    }
}

struct StoreMark: Sendable {
    let scope: StoreScope
    let position: ChangeCursor
}

/// A collection of a client, identical for copies of the client.
private struct FollowedPlace: Hashable, Sendable {
    let hub: ObjectIdentifier
    let collection: CollectionPath

    init(_ scope: StoreScope) {
        hub = ObjectIdentifier(scope.client.hub)
        collection = scope.collection
    }
}

/// The followed collections: at most 64, to bound the memory.
private struct Watches {
    private(set) var byPlace: [FollowedPlace: StoreWatch] = [:]
    /// Oldest first.
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
