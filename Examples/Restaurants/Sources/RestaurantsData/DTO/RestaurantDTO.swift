internal import KeelHTTP
internal import KeelRepositories

/// A restaurant in the service's format, in snake case: `price_level`, `image_url`.
///
/// Every field is optional, because the server's data are not under our control: only the mapping to the domain decides
/// what is required. `is_favorite`, which some services send, is ignored: a user's favourite is not a property of a
/// restaurant that all users see.
struct RestaurantDTO: Decodable, Sendable {
    var id: String?
    var name: String?
    var cuisine: String?
    var rating: Double?
    var priceLevel: Int?
    var address: String?
    var borough: String?
    var latitude: Double?
    var longitude: Double?
    var imageURL: String?
    var phoneNumber: String?
    var website: String?
    var openingHours: [String]?
    var grades: [GradeDTO]?

    private enum CodingKeys: String, CodingKey {
        case id, name, cuisine, rating, priceLevel, address, borough
        case latitude = "lat"
        case longitude = "lng"
        case imageURL, phoneNumber, website, openingHours, grades
    }
}

/// The result of an inspector's visit.
struct GradeDTO: Decodable, Sendable {
    var date: String?
    var grade: String?
    var score: Int?
}

extension RestaurantDTO {
    /// A restaurant with every field, for tests and previews.
    static let sample = Fixture.value(of: RestaurantDTO.self, json: sampleJSON, coding: .snakeCase)

    /// ``sample`` in the service's format.
    static let sampleJSON = """
        {
            "id": "it-1", "name": "The Italian Kitchen", "cuisine": "Italian", "rating": 4.5,
            "price_level": 2, "address": "123 Main St", "borough": "Harbour",
            "lat": 37.7749, "lng": -122.4194,
            "image_url": "https://example.com/image.jpg", "phone_number": "+1-555-0123",
            "website": "https://example.com", "opening_hours": ["Mon-Fri: 11:00-22:00"],
            "is_favorite": false,
            "grades": [{"date": "2025-03-03T00:00:00Z", "grade": "A", "score": 2}]
        }
        """
}
