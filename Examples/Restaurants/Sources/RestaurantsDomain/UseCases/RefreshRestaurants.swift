/// Loads the restaurants anew from their source.
public struct RefreshRestaurants: Sendable {
    private let restaurants: any RestaurantRepository

    /// Creates the use case.
    public init(restaurants: any RestaurantRepository) { self.restaurants = restaurants }

    /// Makes the restaurants on this device what they are at their source.
    ///
    /// - Returns: What has changed, and what could not be taken.
    public func callAsFunction() async throws(DomainError) -> RefreshReport {
        try await restaurants.refresh()
    }
}
