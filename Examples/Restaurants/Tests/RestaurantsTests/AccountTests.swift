import Foundation
import HTTPTypes
import KeelHTTP
import KeelSecrets
import KeelTestKit
import RestaurantsData
import RestaurantsDomain
import Testing

@Suite("Signing in and out")
struct AccountTests {
    private let email: EmailAddress

    init() throws { email = try EmailAddress("ada@example.com") }

    private func paths(_ app: Instance) -> [String?] { app.transport.calls.map(\.head.path) }

    private func tokens(_ app: Instance) -> [String?] {
        app.transport.calls.map { $0.head.headerFields[.authorization] }
    }

    @Test("A signed-in user is kept in this process and in the next one with the same secrets")
    func signIn() async throws {
        let vault = InMemorySecretStoreAdapter()
        let app = try Instance(.json(ServiceJSON.grant(1)), secrets: vault)
        let user = try await app.accounts.signIn(email, password: "engine")
        #expect(user == User(id: try UserID("ada"), name: "Ada Lovelace", email: email))
        #expect(paths(app) == ["/auth/login"])
        let sent = try #require(app.transport.calls.first)
        let form = try JSONDecoder().decode([String: String].self, from: Data(sent.body))
        #expect(form == ["email": "ada@example.com", "password": "engine"])

        let next = try Instance(.json(ServiceJSON.user), secrets: vault)
        #expect(try await next.accounts.signedInUser() == user)
        #expect(try await next.accounts.currentUser() == user)
        #expect(tokens(next) == ["Bearer access-1"])
    }

    @Test("A wrong password is a specific error with advice and keeps the session")
    func wrongPassword() async throws {
        let app = try Instance(.json(ServiceJSON.grant(1)), .status(.unauthorized))
        let user = try await app.accounts.signIn(email, password: "engine")
        let error = await #expect(throws: DomainError.self) {
            try await app.accounts.signIn(email, password: "motor")
        }
        #expect(error?.kind == .wrongPassword)
        #expect(error?.recoverySuggestion?.isEmpty == false)
        #expect(error?.cause != nil)
        let cause = error?.cause.map { "\($0)" } ?? ""
        #expect(!cause.contains("motor"))
        #expect(try await app.accounts.signedInUser() == user)
    }

    @Test("A grant without a user is not understood, and nobody is signed in")
    func badGrant() async throws {
        let app = try Instance(.json(#"{"access_token": "access-1"}"#))
        let error = await #expect(throws: DomainError.self) {
            try await app.accounts.signIn(email, password: "engine")
        }
        #expect(error?.kind == .sourceNotUnderstood)
        #expect(try await app.accounts.signedInUser() == nil)
    }

    @Test("A refused token is renewed once, the call is repeated, and the log reports it")
    func renewal() async throws {
        let vault = InMemorySecretStoreAdapter()
        let app = try Instance(
            .json(ServiceJSON.grant(1)),
            .status(.unauthorized),
            .json(ServiceJSON.grant(2)),
            .json(ServiceJSON.user),
            secrets: vault
        )
        let user = try await app.accounts.signIn(email, password: "engine")
        #expect(try await app.accounts.currentUser() == user)
        #expect(paths(app) == ["/auth/login", "/me", "/auth/refresh", "/me"])
        #expect(tokens(app) == [nil, "Bearer access-1", nil, "Bearer access-2"])
        #expect(app.log.all.filter { $0 == "session: credentials renewed" }.count == 1)
        #expect(!app.log.all.contains { $0.contains("access-") || $0.contains("refresh-") })

        // The new tokens are stored, because the old refresh token is used up.
        let next = try Instance(.json(ServiceJSON.user), secrets: vault)
        _ = try await next.accounts.currentUser()
        #expect(tokens(next) == ["Bearer access-2"])
    }

    @Test("A refused renewal ends the session")
    func denied() async throws {
        let app = try Instance(
            .json(ServiceJSON.grant(1)),
            .status(.unauthorized),
            .status(.unauthorized)
        )
        _ = try await app.accounts.signIn(email, password: "engine")
        let error = await #expect(throws: DomainError.self) {
            try await app.accounts.currentUser()
        }
        #expect(error?.kind == .sessionEnded)
        #expect(try await app.accounts.signedInUser() == nil)
    }

    @Test("Signing out removes the secret, notifies the service and leaves nobody signed in")
    func signOut() async throws {
        let vault = InMemorySecretStoreAdapter()
        let app = try Instance(.json(ServiceJSON.grant(1)), .status(.noContent), secrets: vault)
        let user = try await app.accounts.signIn(email, password: "engine")
        #expect(try await app.accounts.signOut() == user)
        #expect(paths(app) == ["/auth/login", "/auth/logout"])
        #expect(app.transport.calls.last?.text == #"{"refresh_token":"refresh-1"}"#)

        #expect(try await Instance(secrets: vault).accounts.signedInUser() == nil)
        let error = await #expect(throws: DomainError.self) {
            try await app.accounts.currentUser()
        }
        #expect(error?.kind == .notSignedIn)
        // The call that could not be signed was not sent.
        #expect(app.transport.calls.count == 2)
        #expect(try await app.accounts.signOut() == nil)
    }

    @Test("Signing out succeeds offline")
    func signOutOffline() async throws {
        let app = try Instance(.json(ServiceJSON.grant(1)))
        let user = try await app.accounts.signIn(email, password: "engine")
        #expect(try await app.accounts.signOut() == user)
        #expect(try await app.accounts.signedInUser() == nil)
    }

    @Test("Offline, the current user is the last one who signed in")
    func offline() async throws {
        let app = try Instance(.json(ServiceJSON.grant(1)))
        let user = try await app.accounts.signIn(email, password: "engine")
        #expect(try await app.accounts.currentUser() == user)
    }

    @Test("Restaurants are loaded without a token, even for a signed-in user")
    func publicCalls() async throws {
        let app = try Instance(.json(ServiceJSON.grant(1)), .json(ServiceJSON.page()))
        _ = try await app.accounts.signIn(email, password: "engine")
        _ = try await app.restaurants.refresh()
        #expect(tokens(app) == [nil, nil])
    }
}
