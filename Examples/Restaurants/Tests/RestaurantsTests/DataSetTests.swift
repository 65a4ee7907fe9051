import Foundation
import KeelHTTP
import KeelTestKit
import RestaurantsDomain
import Testing

@testable import RestaurantsAPI
@testable import RestaurantsData

/// The example's two files of restaurants, as the app receives them.
@Suite("Data sets of the example")
struct DataSetTests {
    static func file(_ name: String) -> URL {
        URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Data/\(name).jsonl").standardized
    }

    /// The service's response for a file, as decoded by the app.
    private func plan(_ name: String) throws -> RefreshPlan {
        let api = APIResponder(catalogue: try RestaurantCatalogue(contentsOf: Self.file(name)))
        let response = api.answer(APIRequest(method: "GET", target: "/restaurants?limit=1000"))
        let page = try JSONCoding.snakeCase.decode(RestaurantPageDTO.self, from: response.body)
        return RefreshPlan(from: [], to: [page])
    }

    @Test(
        "Every restaurant in a file is imported",
        arguments: [("restaurants", 40), ("new-york", 60)]
    )
    func whole(_ name: String, _ count: Int) throws {
        let report = try plan(name).report
        #expect(report.added == count)
        #expect(report.rejections == [])
    }

    @Test("The example’s own restaurants have every field of such a service")
    func own() throws {
        let restaurants = try plan("restaurants").changed.map { try $0.toDomain() }
        let gulls = try #require(restaurants.first { $0.name == "Three Gulls" })
        #expect(gulls.rating == 4.7 && gulls.priceLevel == PriceLevel(2))
        #expect(gulls.address == "82 Quay Lane, H-10")
        #expect(gulls.openingHours == ["Mon-Fri: 11:00-22:00", "Sat-Sun: 12:00-23:00"])
        #expect(restaurants.allSatisfy { $0.rating != nil && $0.priceLevel != nil })
        #expect(restaurants.contains { $0.imageURL != nil && $0.phoneNumber != nil })
        // Each optional field is also missing somewhere.
        #expect(restaurants.contains { $0.imageURL == nil })
        #expect(restaurants.contains { $0.phoneNumber == nil })
        #expect(restaurants.contains { $0.website == nil })
        #expect(restaurants.contains { $0.openingHours.isEmpty })
        #expect(restaurants.contains { $0.location == nil })
    }

    @Test("New York’s inspections are converted to the service’s format without invented values")
    func newYork() throws {
        let restaurants = try plan("new-york").changed.map { try $0.toDomain() }
        let shop = try #require(restaurants.first { $0.id.text == "30075445" })
        #expect(shop.name == "Morris Park Bake Shop" && shop.borough == "Bronx")
        #expect(shop.address == "1007 Morris Park Ave, 10462")
        #expect(shop.location == Coordinate(latitude: 40.848447, longitude: -73.856077))
        #expect(shop.latestGrade?.mark == .a && shop.grades.count == 5)
        #expect(shop.rating == nil && shop.priceLevel == nil && shop.openingHours == [])
    }

    @Test("Address parts are joined into one line without gaps for missing parts")
    func address() throws {
        func address(_ parts: String) throws -> String {
            let line = #"{"id": "1", "name": "A", "cuisine": "B", "address": {\#(parts)}}"#
            let catalogue = try RestaurantCatalogue(Array(line.utf8), file: "test.jsonl")
            let entry = try #require(catalogue.entry("1"))
            let dto = try JSONCoding.snakeCase.decode(RestaurantDTO.self, from: entry.json)
            return try dto.toDomain().address
        }
        let full = #""building": "351", "street": "West   57 Street", "zipcode": "10019""#
        #expect(try address(full) == "351 West 57 Street, 10019")
        #expect(try address(#""street": "Quay Lane""#) == "Quay Lane")
        #expect(try address(#""building": "", "street": "", "zipcode": "1""#) == "1")
    }

    @Test(
        "Either file can be listed, searched and browsed nearby",
        arguments: [
            ("restaurants", "gulls", "Three Gulls"),
            ("new-york", "bake shop", "Morris Park Bake Shop"),
        ]
    )
    func used(_ file: String, _ words: String, _ name: String) async throws {
        let api = APIResponder(catalogue: try RestaurantCatalogue(contentsOf: Self.file(file)))
        let page = api.answer(APIRequest(method: "GET", target: "/restaurants?limit=500"))
        let app = try Instance(.json(String(decoding: page.body, as: UTF8.self)))
        _ = try await app.restaurants.refresh()
        let found = try #require(try await app.restaurants.search(words, limit: 3).first)
        #expect(found.name == name)
        let find = FindNearbyRestaurants(
            restaurants: app.restaurants,
            whereabouts: InMemoryRepositories([])
        )
        let near = try await find(around: found.location, limit: 1)
        #expect(near.map(\.restaurant.name) == [name])
    }
}
