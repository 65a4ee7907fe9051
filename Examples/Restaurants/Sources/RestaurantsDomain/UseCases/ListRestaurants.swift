/// Lists restaurants by name.
public struct ListRestaurants: Sendable {
    private let restaurants: any RestaurantRepository

    /// Creates the use case.
    public init(restaurants: any RestaurantRepository) { self.restaurants = restaurants }

    /// Returns the restaurants that pass a filter.
    public func callAsFunction(
        _ filter: RestaurantFilter = RestaurantFilter()
    ) async throws(DomainError) -> [Restaurant] {
        try await restaurants.restaurants(filter).sorted { $0.isListed(before: $1) }
    }
}
