internal import Foundation
internal import KeelRepositories
internal import RestaurantsDomain

/// A restaurant as it is stored: `restaurants/{id}`.
///
/// It contains no user data, so replacing it loses none.
struct StoredRestaurant: Codable, Hashable, Sendable, Identifiable, DomainMappable {
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
    /// The sort key of lists.
    var listingKey: String
    var cuisine: String
    var rating: Double?
    var priceLevel: Int?
    var address: String
    var borough: String?
    var location: StoredLocation?
    var imageURL: String?
    var phoneNumber: String?
    var website: String?
    var openingHours: [String]
    var grades: [StoredGrade]

    init(domain restaurant: Restaurant) {
        id = restaurant.id.text
        name = restaurant.name
        listingKey = restaurant.listingKey
        cuisine = restaurant.cuisine
        rating = restaurant.rating
        priceLevel = restaurant.priceLevel?.level
        address = restaurant.address
        borough = restaurant.borough
        location = restaurant.location.map {
            StoredLocation(latitude: $0.latitude, longitude: $0.longitude)
        }
        imageURL = restaurant.imageURL?.absoluteString
        phoneNumber = restaurant.phoneNumber
        website = restaurant.website?.absoluteString
        openingHours = restaurant.openingHours
        grades = restaurant.grades.map {
            StoredGrade(date: $0.date, mark: $0.mark.rawValue, score: $0.score)
        }
    }

    func toDomain() throws(MappingError) -> Restaurant {
        let fields = FieldMapper(of: id)
        return Restaurant(
            id: try fields.restaurantID(id, "id"),
            name: name,
            cuisine: cuisine,
            rating: try fields.optional.number(rating, "rating", in: Restaurant.ratingRange),
            priceLevel: try fields.optional.value(priceLevel, "priceLevel") { PriceLevel($0) },
            address: address,
            borough: borough,
            location: try fields.optional.value(location, "location") {
                Coordinate(latitude: $0.latitude, longitude: $0.longitude)
            },
            imageURL: try fields.optional.url(imageURL, "imageURL"),
            phoneNumber: phoneNumber,
            website: try fields.optional.url(website, "website"),
            openingHours: openingHours,
            // The stored document may come from a newer version of the app.
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
