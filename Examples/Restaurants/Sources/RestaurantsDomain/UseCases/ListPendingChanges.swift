/// Lists the changes that the service has not received, and retries or discards them.
public struct ListPendingChanges: Sendable {
    private let restaurants: any RestaurantRepository
    private let changes: any PendingChangeRepository

    /// Creates the use case.
    public init(restaurants: any RestaurantRepository, changes: any PendingChangeRepository) {
        self.restaurants = restaurants
        self.changes = changes
    }

    /// Returns a user's changes with the names of their restaurants.
    public func callAsFunction(for user: UserID) async throws(DomainError) -> [PendingEntry] {
        let pending = try await changes.changes(of: user)
        let known = try await restaurants.knownRestaurants(pending.map(\.restaurant))
        return pending.map { change in
            let name = known.first { $0.id == change.restaurant }?.name
            return PendingEntry(
                change: change,
                restaurant: RestaurantName(id: change.restaurant, name: name)
            )
        }
    }

    /// Sends a change again.
    ///
    /// - Throws: ``DomainError`` of the kind `changeNotFound`, and others.
    public func retry(_ id: String, for user: UserID) async throws(DomainError) {
        try await changes.retry(try await change(id, of: user), of: user)
    }

    /// Discards a change; what is stored on this device stays.
    ///
    /// - Throws: ``DomainError`` of the kind `changeNotFound`, and others.
    public func discard(_ id: String, for user: UserID) async throws(DomainError) {
        try await changes.discard(try await change(id, of: user), of: user)
    }

    /// Returns the one change whose id begins with a text.
    private func change(
        _ id: String,
        of user: UserID
    ) async throws(DomainError) -> PendingChange {
        let found = try await changes.changes(of: user).filter { $0.id.hasPrefix(id) }
        guard found.count == 1 else { throw DomainError(.changeNotFound(id)) }
        return found[0]
    }
}

/// A change with the name of its restaurant.
public struct PendingEntry: Hashable, Sendable {
    /// The change.
    public let change: PendingChange
    /// The restaurant.
    public let restaurant: RestaurantName

    /// Creates an entry.
    public init(change: PendingChange, restaurant: RestaurantName) {
        self.change = change
        self.restaurant = restaurant
    }
}
