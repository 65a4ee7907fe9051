internal import Foundation

/// A restaurant in a city's open data about inspections: an address in parts, a separate location, and grades.
///
/// This is New York's format. It has no prices, pictures or opening hours, and the service makes none up.
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

    /// Returns the restaurant in the service's format.
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

    /// `1007 Morris Park Ave, 10462`: the existing parts, with single spaces.
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
