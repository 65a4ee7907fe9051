public import Foundation

/// The fact that a user likes a restaurant.
///
/// It is a thing of its own and not a mark on the restaurant: two users of one device have
/// different favourites, and loading the restaurants anew cannot lose any.
public struct Favourite: Hashable, Sendable {
    /// Who likes the restaurant.
    public let user: UserID
    /// The restaurant.
    public let restaurant: RestaurantID
    /// Since when.
    public let since: Date

    /// Creates a favourite.
    public init(user: UserID, restaurant: RestaurantID, since: Date) {
        self.user = user
        self.restaurant = restaurant
        self.since = since
    }
}
