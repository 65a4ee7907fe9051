public import Foundation

/// Rates a restaurant for a user.
public struct RateRestaurant: Sendable {
    private let restaurants: any RestaurantRepository
    private let ratings: any RatingRepository
    private let now: @Sendable () -> Date

    /// Creates the use case.
    public init(
        restaurants: any RestaurantRepository,
        ratings: any RatingRepository,
        now: @escaping @Sendable () -> Date
    ) {
        self.restaurants = restaurants
        self.ratings = ratings
        self.now = now
    }

    /// Rates a restaurant, replacing the user's previous rating.
    ///
    /// - Returns: The restaurant and the new rating.
    /// - Throws: ``DomainError`` of the kind `ratingOutOfRange`, `restaurantNotFound`, and others.
    @discardableResult
    public func callAsFunction(
        _ id: RestaurantID,
        stars count: Int,
        for user: UserID
    ) async throws(DomainError) -> (restaurant: Restaurant, rating: Rating) {
        let stars = try Stars(count)
        let restaurant = try await restaurants.restaurant(id)
        let rating = Rating(user: user, restaurant: id, stars: stars, date: now())
        try await ratings.save(rating)
        return (restaurant, rating)
    }
}
