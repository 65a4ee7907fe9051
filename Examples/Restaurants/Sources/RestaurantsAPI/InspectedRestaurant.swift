internal import Foundation

/// A restaurant as a city's open data have it after its inspections: an address in parts, a location
/// of its own, and grades.
///
/// New York publishes its inspections so. The service knows of such a restaurant no price, no picture
/// and no opening hours, and makes none up.
struct InspectedRestaurant: Decodable {
    struct Address: Decodable {
        var building: String?
        var street: String?
        var zipcode: String?
    }

    struct Location: Decodable {
        var latitude: Double
        var longitude: Double
    }

    struct Grade: Codable {
        var date: String
        var grade: String
        var score: Int?
    }

    var id: String
    var name: String
    var borough: String?
    var cuisine: String?
    var address: Address
    var location: Location?
    var grades: [Grade]?

    /// The restaurant in the service's own form.
    func json() throws(LineFlaw) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let form = OwnForm(
            id: id,
            name: name,
            cuisine: cuisine,
            address: text(of: address),
            borough: borough,
            lat: location?.latitude,
            lng: location?.longitude,
            grades: grades
        )
        guard let json = try? encoder.encode(form) else {
            throw LineFlaw("“location” is not a place on the globe")
        }
        return Array(json)
    }

    /// `1007 Morris Park Ave, 10462`: the parts that there are, with single spaces.
    private func text(of address: Address) -> String {
        let door = [address.building, address.street].compactMap(\.self).joined(separator: " ")
        return [door, address.zipcode ?? ""]
            .map { $0.split(separator: " ").joined(separator: " ") }
            .filter { !$0.isEmpty }
            .joined(separator: ", ")
    }

    private struct OwnForm: Encodable {
        let id: String
        let name: String
        let cuisine: String?
        let address: String
        let borough: String?
        let lat: Double?
        let lng: Double?
        let grades: [Grade]?
    }
}
