import Foundation
import KeelHTTP
import KeelRepositories
import RestaurantsDomain
import Testing

@testable import RestaurantsData

@Suite("Mapping of service responses")
struct MappingTests {
    private func mapped(_ json: String) throws -> Restaurant {
        try JSONCoding.snakeCase.decode(RestaurantDTO.self, from: Array(json.utf8)).toDomain()
    }

    private func failure(_ json: String) throws -> MappingError {
        let error = #expect(throws: MappingError.self) { try mapped(json) }
        return try #require(error)
    }

    private func plan(_ entries: String...) throws -> RefreshPlan {
        let page = #"{"restaurants": [\#(entries.joined(separator: ","))], "next": null}"#
        return RefreshPlan(
            from: [],
            to: [try JSONCoding.snakeCase.decode(RestaurantPageDTO.self, from: Array(page.utf8))]
        )
    }

    @Test("A complete entry is mapped from snake case")
    func complete() throws {
        let restaurant = try RestaurantDTO.sample.toDomain()

        #expect(restaurant.id == (try RestaurantID("it-1")))
        #expect(restaurant.name == "The Italian Kitchen" && restaurant.cuisine == "Italian")
        #expect(restaurant.rating == 4.5 && restaurant.priceLevel == PriceLevel(2))
        #expect(restaurant.address == "123 Main St" && restaurant.borough == "Harbour")
        #expect(restaurant.location == Coordinate(latitude: 37.7749, longitude: -122.4194))
        #expect(restaurant.imageURL?.absoluteString == "https://example.com/image.jpg")
        #expect(restaurant.phoneNumber == "+1-555-0123")
        #expect(restaurant.website?.absoluteString == "https://example.com")
        #expect(restaurant.openingHours == ["Mon-Fri: 11:00-22:00"])
        let date = Date(timeIntervalSince1970: 1_740_960_000)
        #expect(restaurant.grades == [Grade(date: date, mark: .a, score: 2)])
    }

    @Test("A field that the service omits is absent, not invented")
    func optional() throws {
        let restaurant = try mapped(ServiceJSON.restaurant("r-1", "Gulls"))
        #expect(restaurant.rating == nil && restaurant.priceLevel == nil)
        #expect(restaurant.location == nil && restaurant.imageURL == nil)
        #expect(restaurant.phoneNumber == nil && restaurant.website == nil)
        #expect(restaurant.openingHours == [] && restaurant.grades == [])
    }

    @Test(
        "An impossible value is a failure with the field’s name",
        arguments: [
            ("rating", "5.1"), ("price_level", "0"), ("price_level", "5"), ("image_url", "\"/x\""),
            ("website", "\"not a page\""),
        ]
    )
    func impossible(_ field: String, _ value: String) throws {
        let json = ServiceJSON.restaurant("r-1", "Gulls").dropLast() + ", \"\(field)\": \(value)}"
        let failure = try failure(String(json))
        #expect(failure.field == field && failure.entity == "r-1")
    }

    @Test("A missing field is a failure with its name, never an invented value")
    func missing() throws {
        let noID = #"{"name": "Gulls"}"#
        #expect(try failure(noID) == MappingError(.missing, field: "id"))
        let noName = """
            {"id": "r-1", "borough": "Harbour", "cuisine": "Seafood", "address": "1 Quay Lane"}
            """
        #expect(try failure(noName) == MappingError(.missing, field: "name", in: "r-1"))
    }

    @Test(
        "An invalid value is a failure with its path and id, but without the value",
        arguments: [
            ("date", "yesterday", .malformed), ("grade", "Q", .unknownValue),
        ] as [(String, String, MappingError.Code)]
    )
    func invalidGrade(_ field: String, _ value: String, _ code: MappingError.Code) throws {
        var grade = ["date": "2014-03-03T00:00:00Z", "grade": "A"]
        grade[field] = value
        let fields = grade.map { #""\#($0)": "\#($1)""# }.joined(separator: ", ")
        let grades =
            #"[{"date": "2014-03-03T00:00:00Z", "grade": "A", "score": 1}, "#
            + #"{\#(fields), "score": 1}]"#
        let failure = try failure(ServiceJSON.restaurant("r-1", "Gulls", grades: grades))
        #expect(failure.code == code)
        #expect(failure.field == "grades[1].\(field)")
        #expect(failure.entity == "r-1")
        #expect(failure.message.contains("“grades[1].\(field)” of “r-1”"))
        #expect(!failure.message.contains("“\(value)”"))
    }

    @Test("An id that the domain rejects is a failure with the reason, not a random id")
    func invalidID() throws {
        let failure = try failure(ServiceJSON.restaurant("a/b", "Gulls"))
        #expect(failure == MappingError(.refused, field: "id", in: "a/b"))
        #expect((failure.cause as? DomainError)?.kind == .invalidRestaurantID("a/b"))
    }

    @Test("A location that is not on the globe is a failure")
    func invalidPlace() throws {
        func json(_ place: String) -> String {
            ServiceJSON.restaurant("r-1", "Gulls").dropLast() + ", \(place)}"
        }
        #expect(try failure(json(#""lat": 91, "lng": 0"#)).field == "lat")
        #expect(try failure(json(#""lat": 0, "lng": 181"#)).field == "lng")
        #expect(try failure(json(#""lat": 0"#)).field == "lng")
        #expect(try failure(json(#""lng": 0"#)).field == "lat")
    }

    @Test("A malformed entry is reported with its id and does not affect its neighbors")
    func unreadable() throws {
        let plan = try plan(
            ServiceJSON.restaurant("r-1", "Gulls"),
            #"{"id": "r-2", "name": 7}"#,
            ServiceJSON.restaurant("r-3", "Ladder")
        )
        #expect(plan.changed.map(\.id) == ["r-1", "r-3"])
        #expect(plan.report.rejections.map(\.id) == ["r-2"])
        #expect(plan.report.rejections.first?.reason.contains("'name'") == true)
    }

    @Test("The second of two entries with the same id is reported")
    func repeated() throws {
        let plan = try plan(
            ServiceJSON.restaurant("r-1", "Gulls"),
            ServiceJSON.restaurant("r-1", "Ladder")
        )
        #expect(plan.changed.map(\.name) == ["Gulls"])
        #expect(plan.report.added == 1)
        #expect(plan.report.rejections.map(\.id) == ["r-1"])
    }

    @Test("A stored restaurant is read back unchanged")
    func storedForm() throws {
        for restaurant in [
            try Restaurant.fixture("r-1", "Three Gulls", scores: [2, 9]),
            try RestaurantDTO.sample.toDomain(),
        ] {
            let stored = StoredRestaurant(domain: restaurant)
            #expect(try stored.toDomain() == restaurant)
            #expect(stored.listingKey == restaurant.name.lowercased())
        }
    }
}
