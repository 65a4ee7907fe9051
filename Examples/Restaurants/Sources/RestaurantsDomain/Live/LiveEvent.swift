/// An event for a watching user.
public enum LiveEvent: Hashable, Sendable {
    /// Watching has begun, with the initial counts.
    case began(restaurants: Int, favourites: Int, ratings: Int)
    /// The user has added a favourite.
    case favourited(RestaurantName)
    /// The user has removed a favourite.
    case unfavourited(RestaurantName)
    /// The user has rated a restaurant, or changed the rating.
    case rated(RestaurantName, Stars)
    /// The user's rating of a restaurant was removed.
    case unrated(RestaurantName)
    /// A restaurant was added.
    case added(RestaurantName)
    /// A restaurant has changed.
    case changed(RestaurantName)
    /// A restaurant was removed.
    case removed(RestaurantName)
    /// Many restaurants were added, changed or removed at once, and are only counted.
    case many(added: Int, changed: Int, removed: Int)
}

/// A restaurant with its name, if known.
public struct RestaurantName: Hashable, Sendable {
    /// The identifier.
    public let id: RestaurantID
    /// The name; nil if the restaurant is not on this device, because a favourite may outlive it.
    public let name: String?

    /// Creates a name.
    public init(id: RestaurantID, name: String?) {
        self.id = id
        self.name = name
    }

    /// Names a restaurant.
    public init(_ restaurant: Restaurant) { self.init(id: restaurant.id, name: restaurant.name) }
}
