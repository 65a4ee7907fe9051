/// Reloads the restaurants from their source.
public struct RefreshRestaurants: Sendable {
    private let restaurants: any RestaurantRepository

    /// Creates the use case.
    public init(restaurants: any RestaurantRepository) { self.restaurants = restaurants }

    /// Makes the restaurants on this device equal to those at their source.
    ///
    /// - Returns: The changes, and the rejected entries.
    public func callAsFunction() async throws(DomainError) -> RefreshReport {
        try await restaurants.refresh()
    }
}
