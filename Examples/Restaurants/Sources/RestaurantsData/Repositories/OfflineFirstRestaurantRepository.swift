public import Foundation
public import KeelHTTP
public import KeelRepositories
public import KeelStorage
public import RestaurantsDomain

/// Restaurants that are read from this device and loaded from the service.
///
/// A restaurant is stored in one place, whether it was loaded alone or with all others, so that no second copy can
/// become stale. The store is read first; the service is called
/// - for everything, by ``refresh()``, or if nothing was ever loaded;
/// - for one restaurant that is not stored, or that was loaded longer ago than ``maximumAge``.
///
/// Recent results are kept in memory until they change, in this repository or in another process on the same store.
///
/// Every write is complete when its call returns.
public struct OfflineFirstRestaurantRepository: RestaurantRepository {
    /// The age up to which a restaurant is shown without asking the service.
    public static let maximumAge = Duration.seconds(24 * 60 * 60)
    /// The number of restaurants per request.
    static let pageSize = 500

    private let remote: RemoteDataSource
    private let local: CollectionDataSource<StoredRestaurant>
    private let ledger: RestaurantLedger
    private let loader: ResourceLoader

    /// Creates a repository.
    ///
    /// - Parameters:
    ///   - api: The restaurant service.
    ///   - storage: The store of the restaurants.
    ///   - memory: Recently read results.
    ///   - now: Returns the time.
    public init(
        api: NetworkClient,
        storage: StorageClient,
        memory: ResourceMemory = ResourceMemory(),
        now: @escaping @Sendable () -> Date
    ) {
        remote = RemoteDataSource(api)
        local = CollectionDataSource(storage.collection("restaurants", as: StoredRestaurant.self))
        ledger = RestaurantLedger(all: "restaurants/", fetches: CollectionFetchLedger(storage))
        loader = ResourceLoader(ledger: ledger, memory: memory, now: now)
    }

    // MARK: Here

    public func restaurants(
        _ filter: RestaurantFilter
    ) async throws(DomainError) -> [Restaurant] {
        let wanted = selection("lists/\(filter)") { query in
            var query = query.order(by: "listingKey")
            if let borough = filter.borough {
                query = query.where(.equal("borough", borough))
            }
            if let cuisine = filter.cuisine {
                query = query.where(.equal("cuisine", cuisine))
            }
            return filter.limit.map { query.limit(to: $0) } ?? query
        }
        if let kept = try await kept(wanted) { return kept }
        _ = try await refresh()
        return try await kept(wanted) ?? []
    }

    public func knownRestaurants(
        _ ids: [RestaurantID]
    ) async throws(DomainError) -> [Restaurant] {
        try await DomainError.mapping {
            try await local.collection.find(ids.map(\.text)).compactMap { $0 }.toDomain()
        }
    }

    public func search(
        _ words: String,
        limit: Int
    ) async throws(DomainError) -> [Restaurant] {
        let wanted = selection("searches/\(limit) \(words)") {
            $0.matching(words).order(by: "listingKey").limit(to: limit)
        }
        if let kept = try await kept(wanted) { return kept }
        return try await DomainError.mapping {
            try await remote.request(GetSearchResult(words: words, limit: limit))
                .restaurants.toDomain().elements
        }
    }

    public func updates() -> LiveUpdates<Restaurant> { local.collection.updates() }

    // MARK: From the service

    public func restaurant(_ id: RestaurantID) async throws(DomainError) -> Restaurant {
        do throws(RepositoryError) {
            return try await loader.load(one(id.text), .cacheFirst(maxAge: Self.maximumAge)).value
        } catch {
            guard error.code == .notFound else { throw DomainError(error) }
            throw DomainError(.restaurantNotFound(id), cause: error)
        }
    }

    public func refresh() async throws(DomainError) -> RefreshReport {
        try await DomainError.mapping {
            try await loader.load(all, .networkOnly).value.report
        }
    }

    private func one(_ id: String) -> Resource<Restaurant> {
        // A refresh of all restaurants also refreshes this one.
        Resource("\(ledger.all)\(id)", tags: [ledger.all]) {
            StoredRestaurant(domain: try await remote.domain(GetRestaurant(id: id)))
        } read: {
            try await local.find(id)
        } store: { arrived in
            // Unchanged restaurants are not reported to watchers.
            if try await local.find(id) != arrived { try await local.save(arrived) }
        } remove: {
            try await local.delete(id)
        }
        .following(local.collection)
        .map { try $0.toDomain() }
    }

    private var all: Resource<RefreshPlan> {
        Resource(ledger.all) {
            // Everything is loaded before anything is written.
            let pages = try await remote.pages {
                GetRestaurantPage(after: $0, limit: Self.pageSize)
            } next: {
                $0.next
            }
            return RefreshPlan(from: try await local.findAll(), to: pages)
        } read: {
            nil
        } store: { plan in
            try await local.save(plan.changed)
            try await local.delete(plan.removedIDs)
        }
    }

    // MARK: Parts

    /// Returns a page of what is on this device; nil before all restaurants were loaded once.
    private func selection(
        _ key: String,
        _ refine: @escaping @Sendable (DocumentQuery) throws -> DocumentQuery
    ) -> Resource<[Restaurant]> {
        Resource(key, tags: [ledger.all]) {
            throw DataSourceError(.unknown, "A selection is read on this device only.")
        } read: {
            guard try await ledger.time(of: ledger.all) != nil else { return nil }
            return try await local.query(refine).toDomain()
        } store: { _ in
        }
        .following(local.collection)
    }

    private func kept(
        _ selection: Resource<[Restaurant]>
    ) async throws(DomainError) -> [Restaurant]? {
        do throws(RepositoryError) {
            return try await loader.load(selection, .cacheOnly).value
        } catch {
            guard error.code == .notCached else { throw DomainError(error) }
            return nil
        }
    }
}

/// The load times of restaurants: that of a restaurant is its own or that of all, whichever is later.
private struct RestaurantLedger: FetchLedger {
    /// The key of all restaurants, which is a prefix of the keys of single ones.
    let all: String
    let fetches: CollectionFetchLedger

    func time(of key: String) async throws(DataSourceError) -> Date? {
        let own = try await fetches.time(of: key)
        guard key != all, let listed = try await fetches.time(of: all) else { return own }
        return max(own ?? listed, listed)
    }

    func record(_ key: String, at time: Date, tags: Set<String>) async throws(DataSourceError) {
        try await fetches.record(key, at: time, tags: tags)
    }

    func invalidate(_ tags: Set<String>) async throws(DataSourceError) {
        try await fetches.invalidate(tags)
    }
}
