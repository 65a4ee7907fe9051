public import Foundation

/// One to five stars.
public struct Stars: Hashable, Sendable {
    /// The valid counts.
    public static let range = 1...5

    /// The number of stars.
    public let count: Int

    /// Creates stars.
    ///
    /// - Throws: ``DomainError`` unless the count is in ``range``.
    public init(_ count: Int) throws(DomainError) {
        guard Self.range.contains(count) else { throw DomainError(.ratingOutOfRange(count)) }
        self.count = count
    }
}

/// A user's rating of a restaurant.
public struct Rating: Hashable, Sendable {
    /// The user.
    public let user: UserID
    /// The restaurant.
    public let restaurant: RestaurantID
    /// The stars.
    public let stars: Stars
    /// The time of the rating.
    public let date: Date

    /// Creates a rating.
    public init(user: UserID, restaurant: RestaurantID, stars: Stars, date: Date) {
        self.user = user
        self.restaurant = restaurant
        self.stars = stars
        self.date = date
    }
}

/// The ratings of a restaurant by all users.
public struct RatingSummary: Hashable, Sendable {
    /// The mean of the stars.
    public let average: Double
    /// The number of ratings.
    public let count: Int

    /// Summarizes ratings; nil if there are none.
    public init?(_ ratings: [Rating]) {
        guard !ratings.isEmpty else { return nil }
        count = ratings.count
        average = Double(ratings.map(\.stars.count).reduce(0, +)) / Double(ratings.count)
    }
}
