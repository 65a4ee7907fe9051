public import Foundation
public import KeelHTTP
public import KeelStorage
public import RestaurantsDomain

/// Restaurants that are read from this device and loaded from the service.
///
/// A restaurant is kept in one place only, whether it came with all others or alone, so that there
/// is no second copy to go stale. What is kept is asked for first; the service is asked
/// - for everything, by ``refresh()``, or when nothing was ever loaded;
/// - for one restaurant that is not here, or that was loaded longer ago than ``maximumAge``.
///
/// Every write is finished when the call that made it returns.
public struct OfflineFirstRestaurantRepository: RestaurantRepository {
    /// How long a restaurant is shown without asking for news of it, in seconds.
    public static let maximumAge: TimeInterval = 24 * 60 * 60

    let remote: RestaurantRemoteDataSource
    let local: RestaurantLocalDataSource
    private let now: @Sendable () -> Date

    /// Creates a repository.
    ///
    /// - Parameters:
    ///   - api: The restaurant service.
    ///   - storage: Where restaurants are kept.
    ///   - now: The time.
    public init(
        api: NetworkClient,
        storage: StorageClient,
        now: @escaping @Sendable () -> Date
    ) {
        remote = RestaurantRemoteDataSource(client: api)
        local = RestaurantLocalDataSource(storage: storage)
        self.now = now
    }

    public func restaurants(
        _ filter: RestaurantFilter
    ) async throws(DomainError) -> [Restaurant] {
        if try await lastRefresh() == nil { _ = try await refresh() }
        return try await read { () async throws(DataSourceError) in
            try await local.restaurants(filter)
        }
    }

    public func restaurant(_ id: RestaurantID) async throws(DomainError) -> Restaurant {
        let kept = try await knownRestaurants([id]).first
        if let kept, try await isFresh() { return kept }
        do throws(DataSourceError) {
            return try await load(id, replacing: kept)
        } catch {
            if error.isNotFound { throw DomainError(.restaurantNotFound(id), cause: error) }
            if error.isUnreachable, let kept { return kept }
            throw DomainError(error)
        }
    }

    public func knownRestaurants(
        _ ids: [RestaurantID]
    ) async throws(DomainError) -> [Restaurant] {
        try await read { () async throws(DataSourceError) in try await local.restaurants(ids) }
    }

    public func search(
        _ words: String,
        limit: Int
    ) async throws(DomainError) -> [Restaurant] {
        guard try await lastRefresh() != nil else {
            return try await DomainError.mapping { () async throws(DataSourceError) in
                RefreshPlan.Arrivals(try await remote.search(words, limit: limit)).restaurants
            }
        }
        return try await read { () async throws(DataSourceError) in
            try await local.search(words, limit: limit)
        }
    }

    public func refresh() async throws(DomainError) -> RefreshReport {
        try await DomainError.mapping { () async throws(DataSourceError) in
            // Everything is here before anything is written.
            let arrivals = RefreshPlan.Arrivals(try await remote.restaurants())
            let plan = RefreshPlan(from: try await local.restaurants(), to: arrivals)
            try await local.save(plan.changed)
            try await local.remove(plan.removedIDs)
            try await local.noteRefresh(at: now())
            return plan.report
        }
    }

    public func updates() -> LiveUpdates<Restaurant> { local.updates() }

    // MARK: Parts

    /// Loads one restaurant, and keeps it or what has become of it.
    private func load(
        _ id: RestaurantID,
        replacing kept: Restaurant?
    ) async throws(DataSourceError) -> Restaurant {
        let dto: RestaurantDTO
        do throws(DataSourceError) {
            dto = try await remote.restaurant(id.text)
        } catch {
            if error.isNotFound, kept != nil { try await local.remove([id.text]) }
            throw error
        }
        let restaurant = try DataSourceError.mapping { () throws(MappingFailure) in
            try Restaurant(dto)
        }
        if restaurant != kept { try await local.save([StoredRestaurant(restaurant)]) }
        return restaurant
    }

    private func read(
        _ operation: () async throws(DataSourceError) -> [StoredRestaurant]
    ) async throws(DomainError) -> [Restaurant] {
        try await DomainError.mapping { () async throws(DataSourceError) in
            let stored = try await operation()
            return try DataSourceError.mapping { () throws(MappingFailure) in
                try stored.map { one throws(MappingFailure) in try Restaurant(one) }
            }
        }
    }

    private func lastRefresh() async throws(DomainError) -> Date? {
        try await DomainError.mapping { () async throws(DataSourceError) in
            try await local.lastRefresh()
        }
    }

    private func isFresh() async throws(DomainError) -> Bool {
        guard let last = try await lastRefresh() else { return false }
        return now().timeIntervalSince(last) < Self.maximumAge
    }
}
