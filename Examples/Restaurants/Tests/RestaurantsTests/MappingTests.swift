import Foundation
import RestaurantsDomain
import Testing

@testable import RestaurantsData

@Suite("Mapping what the service wrote")
struct MappingTests {
    private func mapped(_ json: String) throws -> Restaurant {
        try Restaurant(JSONDecoder().decode(RestaurantDTO.self, from: Data(json.utf8)))
    }

    private func failure(_ json: String) throws -> MappingFailure {
        let entry = try JSONDecoder().decode(RestaurantEntryDTO.self, from: Data(json.utf8))
        return try #require(RefreshPlan.Arrivals([entry]).failures.first)
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
        #expect(try failure(noID).id == nil)
        let noName = """
            {"id": "r-1", "borough": "Harbour", "cuisine": "Seafood",
             "address": {"building": "1", "street": "Quay Lane", "zipcode": "H-10"}}
            """
        #expect(try failure(noName) == MappingFailure(id: "r-1", "name", .missing))
    }

    @Test(
        "An invalid value is a failure with its place",
        arguments: [
            (#"[{"date": "yesterday", "grade": "A", "score": 1}]"#, "grades[0].date", "yesterday"),
            (
                #"[{"date": "2014-03-03T00:00:00Z", "grade": "Q", "score": 1}]"#, "grades[0].grade",
                "Q"
            ),
        ]
    )
    func invalidGrade(_ grades: String, _ field: String, _ value: String) throws {
        let failure = try failure(ServiceJSON.restaurant("r-1", "Gulls", grades: grades))
        #expect(failure == MappingFailure(id: "r-1", field, .invalid(value)))
    }

    @Test("An id that is no id is a failure, not a random one")
    func invalidID() throws {
        let failure = try failure(ServiceJSON.restaurant("a/b", "Gulls"))
        #expect(failure == MappingFailure(id: "a/b", "id", .invalid("a/b")))
    }

    @Test("A place that is not on the globe is a failure")
    func invalidPlace() throws {
        let json =
            ServiceJSON.restaurant("r-1", "Gulls").dropLast()
            + #", "location": {"latitude": 91, "longitude": 0}}"#
        #expect(try failure(String(json)).field == "location")
    }

    @Test("An entry of another form is reported with its id and does not cost its neighbours")
    func unreadable() throws {
        let page = ServiceJSON.page(
            ServiceJSON.restaurant("r-1", "Gulls"),
            #"{"id": "r-2", "name": 7}"#,
            ServiceJSON.restaurant("r-3", "Ladder")
        )
        let entries = try JSONDecoder()
            .decode(RestaurantPageDTO.self, from: Data(page.utf8)).restaurants
        let arrivals = RefreshPlan.Arrivals(entries)

        #expect(arrivals.restaurants.map(\.id.text) == ["r-1", "r-3"])
        #expect(arrivals.failures.map(\.id) == ["r-2"])
        #expect(arrivals.failures.first?.field == "name")
    }

    @Test("Of two entries with one id, the second is reported")
    func repeated() throws {
        let page = ServiceJSON.page(
            ServiceJSON.restaurant("r-1", "Gulls"),
            ServiceJSON.restaurant("r-1", "Ladder")
        )
        let entries = try JSONDecoder()
            .decode(RestaurantPageDTO.self, from: Data(page.utf8)).restaurants
        let arrivals = RefreshPlan.Arrivals(entries)

        #expect(arrivals.restaurants.map(\.name) == ["Gulls"])
        #expect(arrivals.failures == [MappingFailure(id: "r-1", "id", .repeated)])
    }

    @Test("What was kept comes back the same")
    func storedForm() throws {
        let restaurant = try Restaurant.fixture("r-1", "Three Gulls", scores: [2, 9])
        #expect(try Restaurant(StoredRestaurant(restaurant)) == restaurant)
        #expect(StoredRestaurant(restaurant).listingKey == "three gulls")
    }
}
