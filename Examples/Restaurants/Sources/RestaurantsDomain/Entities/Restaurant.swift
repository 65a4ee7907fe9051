public import Foundation

/// A restaurant, as its service knows it.
///
/// It belongs to nobody: what a user thinks of it is a ``Favourite`` or a ``Rating``. What a source
/// does not know is nil or empty, and never made up.
public struct Restaurant: Hashable, Sendable, Identifiable {
    /// The numbers that ``rating`` can be.
    public static let ratingRange = 0.0...5.0

    /// What identifies the restaurant.
    public let id: RestaurantID
    /// The name over the door.
    public let name: String
    /// What is cooked.
    public let cuisine: String
    /// The mean of what the service's guests gave, in ``ratingRange``.
    public let rating: Double?
    /// How much a meal costs.
    public let priceLevel: PriceLevel?
    /// The street and what finds the door in it.
    public let address: String
    /// The part of the city.
    public let borough: String?
    /// Where the door is on the globe, if somebody has measured it.
    public let location: Coordinate?
    /// A picture of it.
    public let imageURL: URL?
    /// The number to call, as it is dialled.
    public let phoneNumber: String?
    /// Its own pages.
    public let website: URL?
    /// When it is open, a line for some days each, such as `Mon-Fri: 11:00-22:00`.
    public let openingHours: [String]
    /// What the city's inspectors found, in no particular order.
    public let grades: [Grade]

    /// Creates a restaurant.
    public init(
        id: RestaurantID,
        name: String,
        cuisine: String,
        rating: Double? = nil,
        priceLevel: PriceLevel? = nil,
        address: String,
        borough: String? = nil,
        location: Coordinate? = nil,
        imageURL: URL? = nil,
        phoneNumber: String? = nil,
        website: URL? = nil,
        openingHours: [String] = [],
        grades: [Grade] = []
    ) {
        self.id = id
        self.name = name
        self.cuisine = cuisine
        self.rating = rating
        self.priceLevel = priceLevel
        self.address = address
        self.borough = borough
        self.location = location
        self.imageURL = imageURL
        self.phoneNumber = phoneNumber
        self.website = website
        self.openingHours = openingHours
        self.grades = grades
    }
}

extension Restaurant {
    /// The key that lists are ordered by: the name, without regard to case.
    public var listingKey: String { name.lowercased() }

    /// Whether this restaurant comes before another in a list.
    public func isListed(before other: Restaurant) -> Bool {
        (listingKey, id.text) < (other.listingKey, other.id.text)
    }

    /// What the inspectors found last.
    public var latestGrade: Grade? { grades.max { $0.date < $1.date } }

    /// The mean of the inspectors' points, of which fewer are better; nil before the first visit.
    public var averageScore: Double? {
        guard !grades.isEmpty else { return nil }
        return Double(grades.map(\.score).reduce(0, +)) / Double(grades.count)
    }
}

/// How much a meal costs, from 1, cheap, to 4.
public struct PriceLevel: Hashable, Sendable, Comparable {
    /// The levels that there are.
    public static let range = 1...4

    /// The level.
    public let level: Int

    /// Creates a level; nil if there is no such one.
    public init?(_ level: Int) {
        guard Self.range.contains(level) else { return nil }
        self.level = level
    }

    public static func < (left: Self, right: Self) -> Bool { left.level < right.level }
}
