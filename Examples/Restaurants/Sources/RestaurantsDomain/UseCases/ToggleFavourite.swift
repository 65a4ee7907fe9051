public import Foundation

/// Adds and removes a user's favourites.
public struct ToggleFavourite: Sendable {
    private let restaurants: any RestaurantRepository
    private let favourites: any FavouriteRepository
    private let now: @Sendable () -> Date

    /// Creates the use case.
    public init(
        restaurants: any RestaurantRepository,
        favourites: any FavouriteRepository,
        now: @escaping @Sendable () -> Date
    ) {
        self.restaurants = restaurants
        self.favourites = favourites
        self.now = now
    }

    /// Adds the restaurant to the favourites, or removes it if it is one.
    ///
    /// - Returns: Whether it is a favourite now.
    @discardableResult
    public func callAsFunction(
        _ id: RestaurantID,
        for user: UserID
    ) async throws(DomainError) -> Bool {
        let isFavourite = try await favourites.favourite(id, of: user) != nil
        if isFavourite {
            try await remove(id, for: user)
        } else {
            try await add(id, for: user)
        }
        return !isFavourite
    }

    /// Adds a restaurant to the favourites; an existing one keeps its date.
    ///
    /// - Returns: The restaurant.
    @discardableResult
    public func add(_ id: RestaurantID, for user: UserID) async throws(DomainError) -> Restaurant {
        let restaurant = try await restaurants.restaurant(id)
        if try await favourites.favourite(id, of: user) == nil {
            try await favourites.save(Favourite(user: user, restaurant: id, since: now()))
        }
        return restaurant
    }

    /// Removes a restaurant from the favourites; the restaurant itself need not exist any more.
    public func remove(_ id: RestaurantID, for user: UserID) async throws(DomainError) {
        try await favourites.remove(id, of: user)
    }
}
