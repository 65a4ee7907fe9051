public import Foundation

/// A restaurant as its service describes it.
///
/// It contains no user data: those are in ``Favourite`` and ``Rating``. Properties that a source does not know are nil
/// or empty, and never made up.
public struct Restaurant: Hashable, Sendable, Identifiable {
    /// The range of ``rating``.
    public static let ratingRange = 0.0...5.0

    /// The identifier.
    public let id: RestaurantID
    /// The name.
    public let name: String
    /// The cuisine.
    public let cuisine: String
    /// The mean rating by the service's guests, in ``ratingRange``.
    public let rating: Double?
    /// The price level.
    public let priceLevel: PriceLevel?
    /// The street address.
    public let address: String
    /// The part of the city.
    public let borough: String?
    /// The location, if known.
    public let location: Coordinate?
    /// The URL of a picture.
    public let imageURL: URL?
    /// The phone number.
    public let phoneNumber: String?
    /// The website.
    public let website: URL?
    /// The opening hours, one line for each group of days, such as `Mon-Fri: 11:00-22:00`.
    public let openingHours: [String]
    /// The results of inspections, in no particular order.
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
    /// The sort key of lists: the name, case-insensitive.
    public var listingKey: String { name.lowercased() }

    /// Returns whether this restaurant comes before another in a list.
    public func isListed(before other: Restaurant) -> Bool {
        (listingKey, id.text) < (other.listingKey, other.id.text)
    }

    /// The result of the last inspection.
    public var latestGrade: Grade? { grades.max { $0.date < $1.date } }

    /// The mean score of the inspections, lower is better; nil before the first one.
    public var averageScore: Double? {
        guard !grades.isEmpty else { return nil }
        return Double(grades.map(\.score).reduce(0, +)) / Double(grades.count)
    }
}

/// A price level, from 1, cheap, to 4.
public struct PriceLevel: Hashable, Sendable, Comparable {
    /// The valid levels.
    public static let range = 1...4

    /// The level.
    public let level: Int

    /// Creates a level; nil if it is out of range.
    public init?(_ level: Int) {
        guard Self.range.contains(level) else { return nil }
        self.level = level
    }

    public static func < (left: Self, right: Self) -> Bool { left.level < right.level }
}
