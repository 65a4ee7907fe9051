/// Where the app's restaurants come from.
public protocol RestaurantRepository: Sendable {
    /// Returns restaurants in the order of their ``Restaurant/listingKey``.
    func restaurants(_ filter: RestaurantFilter) async throws(DomainError) -> [Restaurant]

    /// Returns the restaurant with an id.
    ///
    /// - Throws: ``DomainError`` of the kind `restaurantNotFound` if there is none.
    func restaurant(_ id: RestaurantID) async throws(DomainError) -> Restaurant

    /// Returns those of the restaurants that are on this device; it asks nobody else.
    func knownRestaurants(_ ids: [RestaurantID]) async throws(DomainError) -> [Restaurant]

    /// Returns restaurants that have all the words, in the order of their
    /// ``Restaurant/listingKey``.
    func search(_ words: String, limit: Int) async throws(DomainError) -> [Restaurant]

    /// Makes the restaurants on this device what they are at their source.
    ///
    /// Users' favourites and ratings stay as they are.
    func refresh() async throws(DomainError) -> RefreshReport

    /// Follows the restaurants on this device.
    func updates() -> LiveUpdates<Restaurant>
}

/// Which restaurants are wanted.
public struct RestaurantFilter: Hashable, Sendable {
    /// Only those in this part of the city.
    public var borough: String?
    /// Only those that cook this.
    public var cuisine: String?
    /// At most this many.
    public var limit: Int?

    /// Creates a filter; without arguments, for all restaurants.
    public init(borough: String? = nil, cuisine: String? = nil, limit: Int? = nil) {
        self.borough = borough
        self.cuisine = cuisine
        self.limit = limit
    }
}
