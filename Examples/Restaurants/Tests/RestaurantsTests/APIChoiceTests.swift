import Foundation
import Testing

@testable import RestaurantsAPI

@Suite("Choices sent to the restaurant service")
struct APIChoiceTests {
    private let api: APIResponder
    private let told = Lines()
    private let tokens: [String: String]

    init() throws {
        let line = ServiceJSON.restaurant("r-1", "Three Gulls").replacing("\n", with: " ")
        api = APIResponder(
            catalogue: try RestaurantCatalogue(Array(line.utf8), file: "test.jsonl"),
            log: { [told] in told.add($0) }
        )
        struct Grant: Decodable {
            let token: String
            private enum CodingKeys: String, CodingKey { case token = "access_token" }
        }
        var tokens: [String: String] = [:]
        for account in AccountBook.accounts {
            let form = #"{"email": "\#(account.email)", "password": "\#(account.password)"}"#
            let response = api.answer(
                APIRequest(method: "POST", target: "/auth/login", body: Array(form.utf8))
            )
            tokens[account.id] = try JSONDecoder()
                .decode(Grant.self, from: Data(response.body)).token
        }
        self.tokens = tokens
    }

    private func write(
        _ method: String,
        _ target: String,
        _ body: String = "{}",
        as user: String? = "ada",
        key: String? = nil
    ) -> Int {
        api.answer(
            APIRequest(
                method: method,
                target: "/users/me/\(target)",
                authorization: user.flatMap { tokens[$0] }.map { "Bearer \($0)" },
                idempotencyKey: key,
                body: Array(body.utf8)
            )
        ).status
    }

    @Test("Each user has their own favorites and ratings")
    func choices() {
        #expect(write("PUT", "favourites/r-1") == 204)
        #expect(write("PUT", "ratings/r-1", #"{"stars": 5}"#, as: "bob") == 204)
        #expect(api.choices.favourites(of: "ada") == ["r-1"])
        #expect(api.choices.favourites(of: "bob") == [])
        #expect(api.choices.ratings(of: "bob") == ["r-1": 5])
        #expect(write("DELETE", "favourites/r-1") == 204)
        #expect(api.choices.favourites(of: "ada") == [])
    }

    @Test("A request with a known key gets the same response and changes nothing")
    func repeated() {
        #expect(write("PUT", "favourites/r-1", key: "k1") == 204)
        #expect(write("DELETE", "favourites/r-1", key: "k2") == 204)
        #expect(write("PUT", "favourites/r-1", key: "k1") == 204)
        #expect(api.choices.favourites(of: "ada") == [])
        // Keys are separate for each user.
        #expect(write("PUT", "favourites/r-1", as: "bob", key: "k1") == 204)
        #expect(api.choices.favourites(of: "bob") == ["r-1"])
        #expect(
            told.all == [
                "ada: PUT favourites r-1: applied", "ada: DELETE favourites r-1: applied",
                "ada: PUT favourites r-1: not applied again: it has a known key",
                "bob: PUT favourites r-1: applied",
            ]
        )
    }

    @Test(
        "Invalid requests get the appropriate status",
        arguments: [
            ("PUT", "favourites/r-9", "{}", 404), ("DELETE", "favourites/r-9", "", 204),
            ("PUT", "ratings/r-1", #"{"stars": 6}"#, 422), ("PUT", "ratings/r-1", "", 422),
            ("PUT", "ratings/r-9", #"{"stars": 5}"#, 404), ("DELETE", "ratings/r-1", "", 405),
            ("GET", "favourites/r-1", "", 405), ("PUT", "favourites", "{}", 404),
        ]
    )
    func statuses(_ method: String, _ target: String, _ body: String, _ status: Int) {
        #expect(write(method, target, body) == status)
    }

    @Test("Writing requires a valid token")
    func unsigned() {
        #expect(write("PUT", "favourites/r-1", as: nil) == 401)
        #expect(write("PUT", "favourites/r-1", as: "nobody") == 401)
        #expect(told.all.isEmpty)
    }
}
