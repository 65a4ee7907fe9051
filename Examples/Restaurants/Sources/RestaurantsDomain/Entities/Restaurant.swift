/// A restaurant as its city's inspectors know it.
///
/// It belongs to nobody: what a user thinks of it is a ``Favourite`` or a ``Rating``.
public struct Restaurant: Hashable, Sendable, Identifiable {
    /// What identifies the restaurant.
    public let id: RestaurantID
    /// The name over the door.
    public let name: String
    /// The part of the city.
    public let borough: String
    /// What is cooked.
    public let cuisine: String
    /// Where the door is.
    public let address: Address
    /// Where the door is on the globe, if somebody has measured it.
    public let location: Coordinate?
    /// What the inspectors found, in no particular order.
    public let grades: [Grade]

    /// Creates a restaurant.
    public init(
        id: RestaurantID,
        name: String,
        borough: String,
        cuisine: String,
        address: Address,
        location: Coordinate? = nil,
        grades: [Grade] = []
    ) {
        self.id = id
        self.name = name
        self.borough = borough
        self.cuisine = cuisine
        self.address = address
        self.location = location
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

/// A place in a street.
public struct Address: Hashable, Sendable {
    /// The number of the building.
    public let building: String
    /// The street.
    public let street: String
    /// The postal code.
    public let zipCode: String

    /// Creates an address.
    public init(building: String, street: String, zipCode: String) {
        self.building = building
        self.street = street
        self.zipCode = zipCode
    }
}

/// A place on the globe.
public struct Coordinate: Hashable, Sendable {
    /// Degrees north of the equator.
    public let latitude: Double
    /// Degrees east of Greenwich.
    public let longitude: Double

    /// Creates a coordinate; nil if there is no such place.
    public init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }
}
