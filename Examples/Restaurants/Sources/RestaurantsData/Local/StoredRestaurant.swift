internal import Foundation
internal import RestaurantsDomain

/// A restaurant as it is kept: `restaurants/{id}`.
///
/// Nothing of a user is in it, so that replacing it loses nothing of a user's.
struct StoredRestaurant: Codable, Hashable, Sendable, Identifiable {
    struct StoredAddress: Codable, Hashable, Sendable {
        var building: String
        var street: String
        var zipCode: String
    }

    struct StoredLocation: Codable, Hashable, Sendable {
        var latitude: Double
        var longitude: Double
    }

    struct StoredGrade: Codable, Hashable, Sendable {
        var date: Date
        var mark: String
        var score: Int
    }

    var id: String
    var name: String
    /// What lists are ordered by.
    var listingKey: String
    var borough: String
    var cuisine: String
    var address: StoredAddress
    var location: StoredLocation?
    var grades: [StoredGrade]

    init(_ restaurant: Restaurant) {
        id = restaurant.id.text
        name = restaurant.name
        listingKey = restaurant.listingKey
        borough = restaurant.borough
        cuisine = restaurant.cuisine
        address = StoredAddress(
            building: restaurant.address.building,
            street: restaurant.address.street,
            zipCode: restaurant.address.zipCode
        )
        location = restaurant.location.map {
            StoredLocation(latitude: $0.latitude, longitude: $0.longitude)
        }
        grades = restaurant.grades.map {
            StoredGrade(date: $0.date, mark: $0.mark.rawValue, score: $0.score)
        }
    }
}

extension Restaurant {
    /// Maps what was kept, which may come from a newer version of the app.
    init(_ stored: StoredRestaurant) throws(MappingFailure) {
        self.init(
            id: try RestaurantID(mapping: stored.id),
            name: stored.name,
            borough: stored.borough,
            cuisine: stored.cuisine,
            address: Address(
                building: stored.address.building,
                street: stored.address.street,
                zipCode: stored.address.zipCode
            ),
            location: try stored.location.map { place throws(MappingFailure) in
                try Coordinate(mapping: place.latitude, place.longitude, of: stored.id)
            },
            grades: try stored.grades.map { grade throws(MappingFailure) in
                Grade(
                    date: grade.date,
                    mark: try Grade.Mark(mapping: grade.mark, "grades", of: stored.id),
                    score: grade.score
                )
            }
        )
    }
}
