import Foundation
import KeelRepositories
import RestaurantsDomain
import Testing

@testable import RestaurantsData

@Suite("Mapping what the service wrote")
struct MappingTests {
    private func mapped(_ json: String) throws -> Restaurant {
        try JSONDecoder().decode(RestaurantDTO.self, from: Data(json.utf8)).toDomain()
    }

    private func failure(_ json: String) throws -> MappingError {
        let error = #expect(throws: MappingError.self) { try mapped(json) }
        return try #require(error)
    }

    private func plan(_ entries: String...) throws -> RefreshPlan {
        let page = #"{"restaurants": [\#(entries.joined(separator: ","))], "next": null}"#
        return RefreshPlan(
            from: [],
            to: [try JSONDecoder().decode(RestaurantPageDTO.self, from: Data(page.utf8))]
        )
    }

    @Test("A complete entry arrives whole")
    func complete() throws {
        let restaurant = try mapped(
            """
            {"id": "30075445", "name": "Bake Shop", "borough": "Bronx", "cuisine": "Bakery",
             "address": {"building": "1007", "street": "Park Ave", "zipcode": "10462"},
             "location": {"latitude": 40.5, "longitude": -73.5},
             "grades": [{"date": "2014-03-03T00:00:00Z", "grade": "Not Yet Graded", "score": -1}]}
            """
        )

        #expect(restaurant.id == (try RestaurantID("30075445")))
        #expect(restaurant.address.zipCode == "10462")
        #expect(restaurant.location == Coordinate(latitude: 40.5, longitude: -73.5))
        let date = Date(timeIntervalSince1970: 1_393_804_800)
        #expect(restaurant.grades == [Grade(date: date, mark: .notYetGraded, score: -1)])
    }

    @Test("A place and grades may be missing")
    func optional() throws {
        let restaurant = try mapped(ServiceJSON.restaurant("r-1", "Gulls"))
        #expect(restaurant.location == nil)
        #expect(restaurant.grades == [])
    }

    @Test("A missing field is a failure with its name, never a made-up value")
    func missing() throws {
        let noID = #"{"name": "Gulls"}"#
        #expect(try failure(noID) == MappingError(.missing, field: "id"))
        let noName = """
            {"id": "r-1", "borough": "Harbour", "cuisine": "Seafood",
             "address": {"building": "1", "street": "Quay Lane", "zipcode": "H-10"}}
            """
        #expect(try failure(noName) == MappingError(.missing, field: "name", in: "r-1"))
    }

    @Test(
        "An invalid value is a failure with its place and the id, and without the value",
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

    @Test("An id that the domain refuses is a failure with the reason, not a random one")
    func invalidID() throws {
        let failure = try failure(ServiceJSON.restaurant("a/b", "Gulls"))
        #expect(failure == MappingError(.refused, field: "id", in: "a/b"))
        #expect((failure.cause as? DomainError)?.kind == .invalidRestaurantID("a/b"))
    }

    @Test("A place that is not on the globe is a failure")
    func invalidPlace() throws {
        let json =
            ServiceJSON.restaurant("r-1", "Gulls").dropLast()
            + #", "location": {"latitude": 91, "longitude": 0}}"#
        #expect(try failure(String(json)).field == "location")
        let half = String(json).replacing(#", "longitude": 0"#, with: "")
        #expect(try failure(half).field == "location.longitude")
    }

    @Test("An entry of another form is reported with its id and does not cost its neighbours")
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

    @Test("Of two entries with one id, the second is reported")
    func repeated() throws {
        let plan = try plan(
            ServiceJSON.restaurant("r-1", "Gulls"),
            ServiceJSON.restaurant("r-1", "Ladder")
        )
        #expect(plan.changed.map(\.name) == ["Gulls"])
        #expect(plan.report.added == 1)
        #expect(plan.report.rejections.map(\.id) == ["r-1"])
    }

    @Test("What was kept comes back the same")
    func storedForm() throws {
        let restaurant = try Restaurant.fixture("r-1", "Three Gulls", scores: [2, 9])
        let stored = StoredRestaurant(domain: restaurant)
        #expect(try stored.toDomain() == restaurant)
        #expect(stored.listingKey == "three gulls")
    }
}
