/// A repository of restaurants.
public protocol RestaurantRepository: Sendable {
    /// Returns restaurants in the order of their ``Restaurant/listingKey``.
    func restaurants(_ filter: RestaurantFilter) async throws(DomainError) -> [Restaurant]

    /// Returns the restaurant with an id.
    ///
    /// - Throws: ``DomainError`` of the kind `restaurantNotFound` if there is none.
    func restaurant(_ id: RestaurantID) async throws(DomainError) -> Restaurant

    /// Returns those of the restaurants that are on this device, without a request.
    func knownRestaurants(_ ids: [RestaurantID]) async throws(DomainError) -> [Restaurant]

    /// Returns restaurants that match all words, in the order of their ``Restaurant/listingKey``.
    func search(_ words: String, limit: Int) async throws(DomainError) -> [Restaurant]

    /// Makes the restaurants on this device equal to those at their source.
    ///
    /// Users' favourites and ratings do not change.
    func refresh() async throws(DomainError) -> RefreshReport

    /// Follows the restaurants on this device.
    func updates() -> LiveUpdates<Restaurant>
}

/// A filter of restaurants.
public struct RestaurantFilter: Hashable, Sendable {
    /// The part of the city.
    public var borough: String?
    /// The cuisine.
    public var cuisine: String?
    /// The maximum number.
    public var limit: Int?

    /// Creates a filter; without arguments, it matches all restaurants.
    public init(borough: String? = nil, cuisine: String? = nil, limit: Int? = nil) {
        self.borough = borough
        self.cuisine = cuisine
        self.limit = limit
    }
}
