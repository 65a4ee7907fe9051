/// Finds restaurants by words in their name, cuisine, borough and street.
public struct SearchRestaurants: Sendable {
    private let restaurants: any RestaurantRepository

    /// Creates the use case.
    public init(restaurants: any RestaurantRepository) { self.restaurants = restaurants }

    /// Returns the first restaurants that match all words.
    ///
    /// - Throws: ``DomainError`` of the kind `emptySearch` without a word.
    public func callAsFunction(
        _ words: String,
        limit: Int = 20
    ) async throws(DomainError) -> [Restaurant] {
        guard words.contains(where: { $0.isLetter || $0.isNumber }) else {
            throw DomainError(.emptySearch)
        }
        return try await restaurants.search(words, limit: limit)
            .sorted { $0.isListed(before: $1) }
    }
}
