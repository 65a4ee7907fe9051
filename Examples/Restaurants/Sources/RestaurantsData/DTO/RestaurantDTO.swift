/// A restaurant as the service writes it.
///
/// Every field is optional, because what another party sends is not ours to promise: what must be
/// there is decided in one place, the mapping to the domain.
struct RestaurantDTO: Decodable, Sendable {
    var id: String?
    var name: String?
    var borough: String?
    var cuisine: String?
    var address: AddressDTO?
    var location: CoordinateDTO?
    var grades: [GradeDTO]?
}

struct AddressDTO: Decodable, Sendable {
    var building: String?
    var street: String?
    var zipcode: String?
}

struct CoordinateDTO: Decodable, Sendable {
    var latitude: Double?
    var longitude: Double?
}

struct GradeDTO: Decodable, Sendable {
    var date: String?
    var grade: String?
    var score: Int?
}
