internal import Foundation
public import RestaurantsDomain

extension Restaurant {
    /// Restaurants for previews; the second has only the required properties.
    public static let samples: [Restaurant] = [
        sample(
            "hf-102",
            "Three Gulls",
            "Fish & Chips",
            rating: 4.7,
            price: 2,
            at: Coordinate(latitude: 51.2117, longitude: -3.3792),
            hours: ["Mon-Fri: 11:00-22:00", "Sat-Sun: 12:00-23:00"]
        ),
        sample("hf-131", "Soup of the Day", "Soups"),
        sample(
            "hf-101",
            "The Salt Ladder",
            "Seafood",
            rating: 3.5,
            price: 3,
            at: Coordinate(latitude: 51.2096, longitude: -3.3786),
            hours: ["Tue-Sat: 17:30-23:00"]
        ),
    ].compactMap(\.self)

    private static func sample(
        _ id: String,
        _ name: String,
        _ cuisine: String,
        rating: Double? = nil,
        price: Int? = nil,
        at location: Coordinate? = nil,
        hours: [String] = []
    ) -> Restaurant? {
        guard let id = try? RestaurantID(id) else { return nil }
        return Restaurant(
            id: id,
            name: name,
            cuisine: cuisine,
            rating: rating,
            priceLevel: price.flatMap { PriceLevel($0) },
            address: "82 Quay Lane, H-10",
            borough: "Harbour",
            location: location,
            imageURL: URL(string: "https://restaurants.example/images/\(id).jpg"),
            phoneNumber: "+44-1632-960102",
            website: URL(string: "https://restaurants.example/\(id)"),
            openingHours: hours
        )
    }
}
