/// Something that a watching user is told.
public enum LiveEvent: Hashable, Sendable {
    /// Watching has begun; this is how much there is.
    case began(restaurants: Int, favourites: Int, ratings: Int)
    /// The user likes a restaurant.
    case favourited(RestaurantName)
    /// The user no longer likes a restaurant.
    case unfavourited(RestaurantName)
    /// The user has rated a restaurant, or changed the rating.
    case rated(RestaurantName, Stars)
    /// The user's rating of a restaurant is gone.
    case unrated(RestaurantName)
    /// A restaurant is new.
    case added(RestaurantName)
    /// A restaurant has changed.
    case changed(RestaurantName)
    /// A restaurant is gone.
    case removed(RestaurantName)
    /// So many restaurants came, changed or went at once that a count says more than names.
    case many(added: Int, changed: Int, removed: Int)
}

/// A restaurant, named as well as is known.
public struct RestaurantName: Hashable, Sendable {
    /// What identifies the restaurant.
    public let id: RestaurantID
    /// Its name; nil if it is not on this device: a favourite may outlive its restaurant.
    public let name: String?

    /// Creates a name.
    public init(id: RestaurantID, name: String?) {
        self.id = id
        self.name = name
    }

    /// Names a restaurant.
    public init(_ restaurant: Restaurant) { self.init(id: restaurant.id, name: restaurant.name) }
}
