internal import Foundation
internal import KeelRepositories
internal import RestaurantsDomain

/// A restaurant as it is kept: `restaurants/{id}`.
///
/// Nothing of a user is in it, so that replacing it loses nothing of a user's.
struct StoredRestaurant: Codable, Hashable, Sendable, Identifiable, DomainMappable {
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

    init(domain restaurant: Restaurant) {
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

    func toDomain() throws(MappingError) -> Restaurant {
        let fields = FieldMapper(of: id)
        return Restaurant(
            id: try fields.restaurantID(id, "id"),
            name: name,
            borough: borough,
            cuisine: cuisine,
            address: Address(
                building: address.building,
                street: address.street,
                zipCode: address.zipCode
            ),
            location: try fields.optional.value(location, "location") {
                Coordinate(latitude: $0.latitude, longitude: $0.longitude)
            },
            // What was kept may come from a newer version of the app.
            grades: try fields.list(grades, "grades") { grade, fields throws(MappingError) in
                Grade(
                    date: grade.date,
                    mark: try fields.oneOf(grade.mark, "mark"),
                    score: grade.score
                )
            }
        )
    }
}
