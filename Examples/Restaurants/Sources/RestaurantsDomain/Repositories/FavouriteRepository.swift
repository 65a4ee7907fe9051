/// A repository of users' favourites.
public protocol FavouriteRepository: Sendable {
    /// Returns a user's favourites, in no particular order.
    func favourites(of user: UserID) async throws(DomainError) -> [Favourite]

    /// Returns a user's favourite; nil if the restaurant is not one.
    func favourite(
        _ restaurant: RestaurantID,
        of user: UserID
    ) async throws(DomainError) -> Favourite?

    /// Stores a favourite durably.
    func save(_ favourite: Favourite) async throws(DomainError)

    /// Removes a favourite; a missing one is not an error.
    func remove(_ restaurant: RestaurantID, of user: UserID) async throws(DomainError)

    /// Follows a user's favourites.
    func updates(of user: UserID) -> LiveUpdates<Favourite>
}
