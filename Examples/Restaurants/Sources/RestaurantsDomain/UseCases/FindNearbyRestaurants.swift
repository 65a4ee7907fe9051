/// Finds the restaurants around a place, nearest first.
public struct FindNearbyRestaurants: Sendable {
    private let restaurants: any RestaurantRepository
    private let whereabouts: any WhereaboutsRepository

    /// Creates the use case.
    public init(
        restaurants: any RestaurantRepository,
        whereabouts: any WhereaboutsRepository
    ) {
        self.restaurants = restaurants
        self.whereabouts = whereabouts
    }

    /// Returns the nearest restaurants with a known place.
    ///
    /// - Parameters:
    ///   - place: The place; nil for the device's position.
    ///   - limit: The maximum number.
    /// - Returns: Restaurants with their distances.
    /// - Throws: ``DomainError`` of the kind `locationRefused` or `locationUnknown`, and others.
    public func callAsFunction(
        around place: Coordinate? = nil,
        limit: Int = 20
    ) async throws(DomainError) -> [NearbyRestaurant] {
        let here: Coordinate
        if let place {
            here = place
        } else {
            here = try await whereabouts.currentPlace()
        }
        let found = try await restaurants.restaurants(RestaurantFilter())
        let near = found.compactMap { restaurant in
            restaurant.location.map {
                NearbyRestaurant(restaurant: restaurant, metres: here.distance(to: $0))
            }
        }
        return Array(near.sorted { $0.isListed(before: $1) }.prefix(limit))
    }
}

/// A restaurant with its distance.
public struct NearbyRestaurant: Hashable, Sendable {
    /// The restaurant.
    public let restaurant: Restaurant
    /// The straight-line distance.
    public let metres: Double

    /// Creates an entry.
    public init(restaurant: Restaurant, metres: Double) {
        self.restaurant = restaurant
        self.metres = metres
    }

    func isListed(before other: NearbyRestaurant) -> Bool {
        (metres, restaurant.id.text) < (other.metres, other.restaurant.id.text)
    }
}
