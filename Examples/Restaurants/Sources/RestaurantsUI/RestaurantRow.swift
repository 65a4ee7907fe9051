public import RestaurantsDomain

/// A row of a list of restaurants, for one user.
public struct RestaurantRow: Identifiable, Hashable, Sendable {
    /// The restaurant.
    public let restaurant: Restaurant
    /// The distance in metres, in a list of nearby restaurants.
    public let metres: Double?
    /// Whether it is a favourite of the user.
    public internal(set) var isFavourite: Bool

    public var id: RestaurantID { restaurant.id }

    /// Creates a row.
    public init(_ restaurant: Restaurant, metres: Double? = nil, isFavourite: Bool = false) {
        self.restaurant = restaurant
        self.metres = metres
        self.isFavourite = isFavourite
    }

    /// The line below the name: cuisine, price, guests' rating and distance, if known.
    public var summary: String {
        var parts = [restaurant.cuisine]
        if let price = restaurant.priceLevel {
            parts.append(String(repeating: "€", count: price.level))
        }
        if let rating = restaurant.rating { parts.append("\(Self.tenths(rating)) of 5") }
        if let metres {
            parts.append(metres < 995 ? "\(Int(metres)) m" : "\(Self.tenths(metres / 1000)) km")
        }
        return parts.joined(separator: " · ")
    }

    private static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
