public import Foundation

/// From one to five stars.
public struct Stars: Hashable, Sendable {
    /// How many there can be.
    public static let range = 1...5

    /// How many there are.
    public let count: Int

    /// Creates stars.
    ///
    /// - Throws: ``DomainError`` unless the count is in ``range``.
    public init(_ count: Int) throws(DomainError) {
        guard Self.range.contains(count) else { throw DomainError(.ratingOutOfRange(count)) }
        self.count = count
    }
}

/// What a user thinks of a restaurant.
public struct Rating: Hashable, Sendable {
    /// Who thinks so.
    public let user: UserID
    /// The restaurant.
    public let restaurant: RestaurantID
    /// The verdict.
    public let stars: Stars
    /// When it was given.
    public let date: Date

    /// Creates a rating.
    public init(user: UserID, restaurant: RestaurantID, stars: Stars, date: Date) {
        self.user = user
        self.restaurant = restaurant
        self.stars = stars
        self.date = date
    }
}

/// What all users together think of a restaurant.
public struct RatingSummary: Hashable, Sendable {
    /// The mean of the stars.
    public let average: Double
    /// How many users gave them.
    public let count: Int

    /// Summarises ratings; nil if there are none.
    public init?(_ ratings: [Rating]) {
        guard !ratings.isEmpty else { return nil }
        count = ratings.count
        average = Double(ratings.map(\.stars.count).reduce(0, +)) / Double(ratings.count)
    }
}
