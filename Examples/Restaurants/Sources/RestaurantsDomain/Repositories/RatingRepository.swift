/// A repository of users' ratings.
public protocol RatingRepository: Sendable {
    /// Returns a user's ratings, in no particular order.
    func ratings(of user: UserID) async throws(DomainError) -> [Rating]

    /// Returns the ratings of a restaurant by all users, in no particular order.
    func ratings(for restaurant: RestaurantID) async throws(DomainError) -> [Rating]

    /// Stores a rating, replacing the user's previous one.
    func save(_ rating: Rating) async throws(DomainError)

    /// Follows a user's ratings.
    func updates(of user: UserID) -> LiveUpdates<Rating>
}
