import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

@Suite("Dates and lists in JSON")
struct JSONValuesTests {
    private struct Dated: Codable { var at: Date }

    private func read(_ text: String, _ coding: JSONCoding = .standard) throws -> Double {
        try coding.decode(Dated.self, from: Array(#"{"at":"\#(text)"}"#.utf8)).at
            .timeIntervalSince1970
    }

    @Test(
        "A date is read with or without a fraction, in any time zone",
        arguments: [
            ("2025-01-31T08:00:00Z", 1_738_310_400), ("2025-01-31T08:00:00.000Z", 1_738_310_400),
            ("2025-01-31T10:00:00+02:00", 1_738_310_400), ("2025-01-31t08:00:00z", 1_738_310_400),
            ("2025-01-31 08:00:00Z", 1_738_310_400), ("2025-01-31T02:30:00-0530", 1_738_310_400),
            ("2025-01-31T09:00:00+01", 1_738_310_400), ("2025-01-31T08:00:00,5Z", 1_738_310_400.5),
            ("2025-01-31T08:00:00.123456789Z", 1_738_310_400.123456789),
            ("1969-12-31T23:59:59.25Z", -0.75), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("2000-02-29T12:00:00Z", 951_825_600), ("0001-01-01T00:00:00Z", -62_135_596_800),
            ("2016-12-31T23:59:60Z", 1_483_228_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ]
    )
    func readsDates(text: String, seconds: Double) throws {
        #expect(abs(try read(text) - seconds) < 0.000_001)
        #expect(abs(try read(text, .snakeCase) - seconds) < 0.000_001)
    }

    @Test(
        "Text that is not a date with a time zone is rejected",
        arguments: [
            "", "2025-01-31", "2025-01-31T08:00:00", "2025-13-01T00:00:00Z", "2025-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z", "2025-04-31T00:00:00Z", "2025-01-31T24:00:00Z",
            "2025-01-31T08:60:00Z", "2025-01-31T08:00:00.Z", "2025-01-31T08:00:00Zx",
            "2025-01-31T08:00:00+25:00", "2025-1-31T08:00:00Z", "yesterday", "1738310400",
            "２025-01-31T08:00:00Z", "2025-01-00T08:00:00Z", "2025-01-31T08:00:00+1",
        ]
    )
    func refusesDates(text: String) { #expect(throws: DecodingError.self) { try read(text) } }

    @Test("Fractions are written on request, rounded to milliseconds")
    func writesDates() throws {
        func text(_ seconds: Double, _ dates: JSONCoding.Dates) throws -> String {
            let value = Dated(at: Date(timeIntervalSince1970: seconds))
            return String(decoding: try JSONCoding(dates: dates).encode(value), as: UTF8.self)
        }
        #expect(try text(1_738_310_400.999, .iso8601) == #"{"at":"2025-01-31T08:00:00Z"}"#)
        let fraction = try text(1_738_310_400.057, .iso8601WithFraction)
        #expect(fraction == #"{"at":"2025-01-31T08:00:00.057Z"}"#)
        #expect(try text(-0.25, .iso8601WithFraction) == #"{"at":"1969-12-31T23:59:59.750Z"}"#)
        #expect(try text(-0.25, .iso8601) == #"{"at":"1969-12-31T23:59:59Z"}"#)
        #expect(throws: EncodingError.self) { try text(300_000_000_000, .iso8601) }
        #expect(throws: EncodingError.self) { try text(-.infinity, .iso8601) }
    }

    @Test("Written dates can be read back and agree with Foundation's format")
    func agreesWithFoundation() throws {
        var generator = SeededRandom(seed: 3339)
        let coding = JSONCoding(dates: .iso8601WithFraction)
        let style = Date.ISO8601FormatStyle()
        for _ in 1...2000 {
            let milliseconds = Int64.random(
                in: -62_000_000_000_000...250_000_000_000_000,
                using: &generator
            )
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let copy = try coding.decode(Dated.self, from: coding.encode(Dated(at: date))).at
            #expect(abs(copy.timeIntervalSince(date)) < 0.0005, "seed 3339")
            // RFC 3339 uses only the Gregorian calendar; Foundation switches to the Julian one before 1582.
            guard milliseconds > -12_200_000_000_000 else { continue }
            let whole = Date(timeIntervalSince1970: (date.timeIntervalSince1970).rounded(.down))
            var query = HTTPQuery()
            query.append("at", whole)
            #expect(query.items.first?.value == whole.formatted(style), "seed 3339")
        }
    }

    @Test("A lossy list keeps valid elements and reports the others with index and reason")
    func dropsElements() throws {
        struct Item: Codable, Equatable, Sendable { var itemName: String }
        struct Page: Decodable { var allItems: LossyList<Item> }
        let json = """
            {"all_items":[{"item_name":"a"},{"item_name":7},null,{"other":1},"x",{"item_name":"b"}]}
            """
        let list = try JSONCoding.snakeCase.decode(Page.self, from: Array(json.utf8)).allItems
        #expect(list.elements == [Item(itemName: "a"), Item(itemName: "b")])
        #expect(list.droppedElements.map(\.index) == [1, 2, 3, 4])
        #expect(list.droppedElements[0].reason.contains("'item_name'"))
        #expect(list.droppedElements[2].reason.contains("'item_name'"))
        #expect(list.droppedElements.allSatisfy { !$0.description.contains("7") })
        let written = String(decoding: try JSONCoding.snakeCase.encode(list), as: UTF8.self)
        #expect(written == #"[{"item_name":"a"},{"item_name":"b"}]"#)
        let plain = try JSONCoding.standard.decode(
            LossyList<Int>.self,
            from: Array(#"[1,"x",[2],3,4.5]"#.utf8)
        )
        #expect(plain.elements == [1, 3])
        #expect(plain.droppedElements.map(\.index) == [1, 2, 4])
        #expect(throws: DecodingError.self) {
            try JSONCoding.standard.decode(LossyList<Int>.self, from: Array("{}".utf8))
        }
    }

    @Test("A decoding error names the snake-case key of the body")
    func explainsFailures() async throws {
        let client = try makeClient(ScriptedHTTPTransport([.json(#"{"id":"1"}"#)])) {
            $0.json = .snakeCase
        }
        let error = await #expect(throws: NetworkError.self) {
            try await client.request(GetRestaurant(id: "1"))
        }
        #expect(error?.message.contains("'display_name'") == true)
    }
}

/// The type of the data layer guide, with its explicit keys.
private struct RestaurantDTO: Codable, Equatable {
    let id: String
    let name: String
    let cuisine: String
    let rating: Double
    let priceLevel: Int
    let address: String
    let latitude: Double
    let longitude: Double
    let imageUrl: String?
    let phoneNumber: String?
    let website: String?
    let openingHours: [String]?
    let isFavorite: Bool?

    enum CodingKeys: String, CodingKey {
        case id
        case name
        case cuisine
        case rating
        case priceLevel = "price_level"
        case address
        case latitude = "lat"
        case longitude = "lng"
        case imageUrl = "image_url"
        case phoneNumber = "phone_number"
        case website
        case openingHours = "opening_hours"
        case isFavorite = "is_favorite"
    }
}

@Suite("The restaurant of the guides")
struct RestaurantDTOTests {
    @Test("RestaurantDTO, with explicit snake-case keys, works in snake case with ISO 8601")
    func decodesRestaurantDTO() async throws {
        let json = """
            {"id":"E621E1F8-C36C-495A-93FC-0C247A3E6E5F","name":"The Italian Kitchen",
            "cuisine":"Italian","rating":4.5,"price_level":2,"address":"123 Main St","lat":37.7749,
            "lng":-122.4194,"image_url":"https://example.com/image.jpg",
            "phone_number":"+1-555-0123","website":null,"opening_hours":["Mon-Fri: 11:00-22:00"],
            "is_favorite":false}
            """
        struct GetRestaurants: Endpoint {
            typealias Response = [RestaurantDTO]
            var path: EndpointPath { "/restaurants" }
        }
        let transport = ScriptedHTTPTransport([.json("[\(json)]"), .json(json)])
        let client = try makeClient(transport) {
            $0.json = JSONCoding(names: .snakeCase, dates: .iso8601)
        }
        let restaurant = try #require(try await client.request(GetRestaurants()).first)
        #expect(restaurant.priceLevel == 2)
        #expect(restaurant.latitude == 37.7749)
        #expect(restaurant.imageUrl == "https://example.com/image.jpg")
        #expect(restaurant.website == nil)
        #expect(restaurant.openingHours == ["Mon-Fri: 11:00-22:00"])
        #expect(restaurant.isFavorite == false)
        let echoed: RestaurantDTO = try await client.post("/restaurants", body: restaurant)
        #expect(echoed == restaurant)
        let sent = try #require(transport.calls.last)
        let names = try JSONDecoder().decode([String: AnyValue].self, from: Data(sent.body)).keys
        #expect(
            names.contains("price_level") && names.contains("image_url") && names.contains("lat")
        )
        #expect(try JSONDecoder().decode(RestaurantDTO.self, from: Data(sent.body)) == restaurant)
    }

    private struct AnyValue: Decodable { init(from decoder: any Decoder) {} }
}
