public import Foundation

/// A restaurant that a user likes.
///
/// It is separate from the restaurant: two users of one device have different favourites, and reloading the restaurants
/// cannot lose any.
public struct Favourite: Hashable, Sendable {
    /// The user.
    public let user: UserID
    /// The restaurant.
    public let restaurant: RestaurantID
    /// The time at which it was added.
    public let since: Date

    /// Creates a favourite.
    public init(user: UserID, restaurant: RestaurantID, since: Date) {
        self.user = user
        self.restaurant = restaurant
        self.since = since
    }
}
