import Foundation
import Synchronization
import Testing

@testable import RestaurantsAPI

@Suite("Accounts of the restaurant service")
struct APIAccountTests {
    private struct Grant: Decodable {
        struct User: Decodable { let id: String }
        let accessToken: String
        let refreshToken: String
        let expiresIn: Int
        let user: User
    }

    private struct User: Decodable { let id: String }

    private func api(
        hiccups: Hiccups? = nil,
        now: @escaping @Sendable () -> Date = { day(0) }
    ) throws -> APIResponder {
        let line = ServiceJSON.restaurant("r-1", "Three Gulls").replacing("\n", with: " ")
        return APIResponder(
            catalogue: try RestaurantCatalogue(Array(line.utf8), file: "test.jsonl"),
            accounts: AccountBook(now: now),
            hiccups: hiccups
        )
    }

    private func post(_ api: APIResponder, _ target: String, _ body: String) -> APIResponse {
        api.answer(APIRequest(method: "POST", target: target, body: Array(body.utf8)))
    }

    private func me(_ api: APIResponder, _ token: String?) -> APIResponse {
        api.answer(
            APIRequest(method: "GET", target: "/me", authorization: token.map { "Bearer \($0)" })
        )
    }

    private func signIn(_ api: APIResponder, _ password: String = "engine") -> APIResponse {
        post(api, "/auth/login", #"{"email": "ada@example.com", "password": "\#(password)"}"#)
    }

    private func grant(_ response: APIResponse) throws -> Grant {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Grant.self, from: Data(response.body))
    }

    @Test("A user who signs in gets tokens that give access to their data")
    func logIn() throws {
        let api = try api()
        let grant = try grant(signIn(api))
        #expect(grant.user.id == "ada")
        #expect(grant.expiresIn == 900)
        let response = me(api, grant.accessToken)
        #expect(try JSONDecoder().decode(User.self, from: Data(response.body)).id == "ada")
    }

    @Test("User data requires a valid token")
    func refused() throws {
        let api = try api()
        #expect(signIn(api, "motor").status == 401)
        #expect(post(api, "/auth/login", "nonsense").status == 400)
        #expect(post(api, "/auth/refresh", #"{"refresh_token": "x"}"#).status == 401)
        for token in [nil, "x"] {
            let response = me(api, token)
            #expect(response.status == 401)
            #expect(response.fields["WWW-Authenticate"] == "Bearer")
        }
    }

    @Test("A refresh token is valid once and invalidates the previous access token")
    func refresh() throws {
        let api = try api()
        let first = try grant(signIn(api))
        let form = #"{"refresh_token": "\#(first.refreshToken)"}"#
        let second = try grant(post(api, "/auth/refresh", form))
        #expect(me(api, first.accessToken).status == 401)
        #expect(me(api, second.accessToken).status == 200)
        #expect(post(api, "/auth/refresh", form).status == 401)
    }

    @Test("After signing out, no token of the session is valid")
    func logOut() throws {
        let api = try api()
        let grant = try grant(signIn(api))
        let form = #"{"refresh_token": "\#(grant.refreshToken)"}"#
        #expect(post(api, "/auth/logout", form).status == 204)
        #expect(me(api, grant.accessToken).status == 401)
        #expect(post(api, "/auth/refresh", form).status == 401)
    }

    @Test("An access token expires")
    func expiry() throws {
        let clock = SettableDate(day(0))
        let api = try api(now: { clock.date })
        let grant = try grant(signIn(api))
        clock.date = day(0).addingTimeInterval(899)
        #expect(me(api, grant.accessToken).status == 200)
        clock.date = day(0).addingTimeInterval(900)
        #expect(me(api, grant.accessToken).status == 401)
    }

    @Test("With hiccups, only the first request of each path is refused temporarily")
    func hiccups() throws {
        let api = try api(hiccups: Hiccups())
        for target in ["/restaurants", "/restaurants/r-1"] {
            let request = APIRequest(method: "GET", target: target)
            let first = api.answer(request)
            #expect(first.status == 503)
            #expect(first.fields["Retry-After"] == "1")
            #expect(api.answer(request).status == 200)
        }
        let grant = try grant(signIn(api))
        #expect(me(api, grant.accessToken).status == 401)
        #expect(me(api, grant.accessToken).status == 200)
    }
}

/// A settable time.
private final class SettableDate: Sendable {
    private let state: Mutex<Date>

    init(_ date: Date) { state = Mutex(date) }

    var date: Date {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
