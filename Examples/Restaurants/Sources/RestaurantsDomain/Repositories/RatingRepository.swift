/// Where users' ratings are kept.
public protocol RatingRepository: Sendable {
    /// Returns a user's ratings, in no particular order.
    func ratings(of user: UserID) async throws(DomainError) -> [Rating]

    /// Returns what all users gave a restaurant, in no particular order.
    func ratings(for restaurant: RestaurantID) async throws(DomainError) -> [Rating]

    /// Keeps a rating in place of the one that the user gave before.
    func save(_ rating: Rating) async throws(DomainError)

    /// Follows a user's ratings.
    func updates(of user: UserID) -> LiveUpdates<Rating>
}
