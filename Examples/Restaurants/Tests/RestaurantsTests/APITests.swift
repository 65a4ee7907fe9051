import Foundation
import Testing

@testable import RestaurantsAPI

@Suite("The restaurant service")
struct APITests {
    private let catalogue: RestaurantCatalogue
    private let api: APIResponder

    init() throws {
        let lines = [
            ServiceJSON.restaurant("r-1", "Three Gulls"),
            ServiceJSON.restaurant("r-2", "Café Lantern", cuisine: "Café/Coffee/Tea"),
            ServiceJSON.restaurant("r-3", "Salt Ladder"),
        ].map { $0.replacing("\n", with: " ") }
        catalogue = try RestaurantCatalogue(
            Array(lines.joined(separator: "\n\n").utf8),
            file: "test.jsonl"
        )
        api = APIResponder(catalogue: catalogue)
    }

    private struct Page: Decodable {
        struct Restaurant: Decodable { let id: String }
        let restaurants: [Restaurant]
        let next: String?
    }

    private func get(_ target: String, knownVersion: String? = nil) -> APIResponse {
        api.answer(APIRequest(method: "GET", target: target, knownVersion: knownVersion))
    }

    private func page(_ target: String) throws -> Page {
        try JSONDecoder().decode(Page.self, from: Data(get(target).body))
    }

    @Test("Pages lead to the end")
    func pages() throws {
        let first = try page("/restaurants?limit=2")
        #expect(first.restaurants.map(\.id) == ["r-1", "r-2"])
        #expect(first.next == "r-2")
        let second = try page("/restaurants?limit=2&after=r-2")
        #expect(second.restaurants.map(\.id) == ["r-3"])
        #expect(second.next == nil)
    }

    @Test(
        "A search matches words regardless of case, accents and encoding",
        arguments: [
            ("gulls", ["r-1"]), ("CAFE", ["r-2"]), ("caf%C3%A9+lant*", ["r-2"]),
            ("quay", ["r-1", "r-2", "r-3"]),
            ("gulls%20ladder", []),
        ]
    )
    func search(_ words: String, _ ids: [String]) throws {
        #expect(try page("/restaurants/search?q=\(words)").restaurants.map(\.id) == ids)
    }

    @Test(
        "Each request gets the appropriate status",
        arguments: [
            ("/restaurants/r-9", 404), ("/restaurants?limit=0", 400),
            ("/restaurants?after=r-9", 400),
            ("/restaurants/search", 400), ("/elsewhere", 404), ("/restaurants/r-1", 200),
            ("/restaurants/r%2D1", 200),
        ]
    )
    func statuses(_ target: String, _ status: Int) {
        #expect(get(target).status == status)
    }

    @Test("A client with the current version gets no body")
    func version() throws {
        let first = get("/restaurants/r-1")
        let again = get("/restaurants/r-1", knownVersion: first.version)
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
        #expect(api.answer(APIRequest(method: "PUT", target: "/restaurants")).status == 405)
    }

    @Test(
        "A bad line is rejected with its number and the reason",
        arguments: [
            ("{\"id\": \"1\", \"name\": \"A\"}\nnonsense", 2, "this is not JSON"),
            ("{\"name\": \"A\"}", 1, "there is no “id”"),
            (
                "{\"id\": \"1\", \"name\": \"A\"}\n\n{\"id\": \"1\", \"name\": \"B\"}", 3,
                "the id “1” is that of restaurant 1, too"
            ),
        ]
    )
    func badLine(_ text: String, _ line: Int, _ reason: String) {
        let error = #expect(throws: CatalogueError.self) {
            try RestaurantCatalogue(Array(text.utf8), file: "bad.jsonl")
        }
        #expect(error?.line == line)
        #expect(error?.reason == reason)
        #expect(error?.errorDescription?.hasPrefix("bad.jsonl:\(line): ") == true)
    }
}
