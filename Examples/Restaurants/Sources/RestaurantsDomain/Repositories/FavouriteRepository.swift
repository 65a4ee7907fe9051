/// Where users' favourites are kept.
public protocol FavouriteRepository: Sendable {
    /// Returns a user's favourites, in no particular order.
    func favourites(of user: UserID) async throws(DomainError) -> [Favourite]

    /// Returns a user's favourite; nil if the restaurant is none.
    func favourite(
        _ restaurant: RestaurantID,
        of user: UserID
    ) async throws(DomainError) -> Favourite?

    /// Keeps a favourite; when this returns, it is kept.
    func save(_ favourite: Favourite) async throws(DomainError)

    /// Removes a favourite; a missing one is no error.
    func remove(_ restaurant: RestaurantID, of user: UserID) async throws(DomainError)

    /// Follows a user's favourites.
    func updates(of user: UserID) -> LiveUpdates<Favourite>
}
