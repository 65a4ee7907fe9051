import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Firebase Authentication")
struct FirebaseIdentityServerTests {
    private let dates = TestDates()
    private let firebase: FirebaseAuthenticationDouble
    private let server: FirebaseIdentityServer

    init() {
        firebase = FirebaseAuthenticationDouble { [dates] in dates.now }
        server = FirebaseIdentityServer(apiKey: "key", transport: firebase) { [dates] in dates.now }
    }

    @Test("A user signs up, signs in elsewhere, and the session renews the token before it expires")
    func session() async throws {
        let first = try await server.signUp(email: "ada@example.org", password: "analytical")
        #expect(first.firebaseUserID == "user-1")
        #expect(first.expiresAt == dates.now.addingTimeInterval(3_600))
        var policy = AuthSessionPolicy()
        policy.now = { [dates] in dates.now }
        let session = AuthSession(server: server, policy: policy)
        try await session.signIn {
            try await server.signIn(email: "ada@example.org", password: "analytical")
        }
        let token = try await session.token()
        dates.advance(by: 3_599)
        let renewed = try await session.token()
        #expect(renewed.value != token.value)
        #expect(session.current?.firebaseUserID == "user-1")
    }

    @Test("An anonymous user keeps the id when it gets a password")
    func anonymous() async throws {
        let anonymous = try await server.signInAnonymously()
        let linked = try await server.link(
            anonymous,
            email: "ada@example.org",
            password: "analytical"
        )
        #expect(linked.firebaseUserID == anonymous.firebaseUserID)
        let known = try await server.signIn(email: "ada@example.org", password: "analytical")
        #expect(known.firebaseUserID == anonymous.firebaseUserID)
        dates.advance(by: 3_601)
        await expectError(AuthenticationError.self, .expired) {
            try await server.link(anonymous, email: "b@example.org", password: "difference")
        }
    }

    @Test("The user of a custom token is named by the ID token")
    func customToken() async throws {
        let credentials = try await server.signIn(customToken: "custom:Ada Lovelace/1")
        #expect(credentials.firebaseUserID == "Ada Lovelace/1")
        let renewed = try await server.refresh(credentials)
        #expect(renewed.firebaseUserID == "Ada Lovelace/1")
    }

    @Test("A new user does not get the id of another one after a user was removed")
    func removal() async throws {
        let first = try await server.signUp(email: "ada@example.org", password: "analytical")
        _ = try await server.signUp(email: "b@example.org", password: "difference")
        firebase.remove(user: try #require(first.firebaseUserID))
        let third = try await server.signInAnonymously()
        let second = try await server.signIn(email: "b@example.org", password: "difference")
        #expect(second.firebaseUserID == "user-2")
        #expect(third.firebaseUserID == "user-3")
    }

    @Test("Each refusal has its code, and the message has no password")
    func refusals() async throws {
        _ = try await server.signUp(email: "ada@example.org", password: "analytical")
        func code(
            _ call: () async throws(AuthenticationError) -> Void
        ) async -> AuthenticationError.Code? {
            do throws(AuthenticationError) {
                try await call()
                return nil
            } catch {
                #expect(!"\(error)".contains("SECRET"))
                return error.code
            }
        }
        typealias Failure = AuthenticationError
        var found: [AuthenticationError.Code?] = []
        found.append(
            await code { () async throws(Failure) in
                _ = try await server.signIn(email: "ada@example.org", password: "SECRET")
            }
        )
        found.append(
            await code { () async throws(Failure) in
                _ = try await server.signUp(email: "ada@example.org", password: "SECRET-1")
            }
        )
        found.append(
            await code { () async throws(Failure) in
                _ = try await server.signUp(email: "b@example.org", password: "SECRE")
            }
        )
        found.append(
            await code { () async throws(Failure) in
                _ = try await server.signIn(customToken: "SECRET")
            }
        )
        firebase.setDisabled(true, user: "user-1")
        found.append(
            await code { () async throws(Failure) in
                _ = try await server.signIn(email: "ada@example.org", password: "analytical")
            }
        )
        firebase.fail(with: TransportError(.connectionRefused, "No answer."))
        found.append(
            await code { () async throws(Failure) in _ = try await server.signInAnonymously() }
        )
        #expect(
            found == [
                .wrongCredentials, .accountExists, .weakPassword, .wrongCredentials,
                .accountDisabled, .signInFailed,
            ]
        )
    }

    @Test("A revoked token ends the session, and a service that does not answer leaves it")
    func revocation() async throws {
        let session = AuthSession(server: server)
        try await session.signIn { try await server.signInAnonymously() }
        firebase.fail(with: TransportError(.connectionRefused, "No answer."))
        await expectError(AuthenticationError.self, .refreshFailed) { try await session.refresh() }
        firebase.fail(with: nil)
        firebase.revokeTokens(of: "user-1")
        await expectError(AuthenticationError.self, .denied) { try await session.refresh() }
        guard case .signedOut = session.state else { return fail("\(session.state)") }
    }

    @Test("Without a new refresh token, the old one is kept")
    func keepsRefreshToken() async throws {
        let transport = ScriptedHTTPTransport([
            .json(#"{"id_token":"t2","expires_in":"3600","user_id":"u"}"#)
        ])
        let server = FirebaseIdentityServer(apiKey: "key", transport: transport)
        let old = BearerCredentials(accessToken: "t", refreshToken: "r")
        let renewed = try await server.refresh(old)
        #expect(renewed.accessToken == "t2" && renewed.refreshToken == "r")
    }

    @Test("A password is reset by e-mail")
    func reset() async throws {
        _ = try await server.signUp(email: "ada@example.org", password: "analytical")
        try await server.sendPasswordReset(email: "ada@example.org")
        #expect(firebase.passwordResets == ["ada@example.org"])
        // A new project does not tell which addresses it knows.
        try await server.sendPasswordReset(email: "nobody@example.org")
        #expect(firebase.passwordResets == ["ada@example.org"])
        let unprotected = ScriptedHTTPTransport([
            .json(#"{"error":{"code":400,"message":"EMAIL_NOT_FOUND"}}"#, status: .badRequest)
        ])
        let older = FirebaseIdentityServer(apiKey: "key", transport: unprotected)
        await expectError(AuthenticationError.self, .wrongCredentials) {
            try await older.sendPasswordReset(email: "nobody@example.org")
        }
    }

    @Test("Addresses that differ only in case are the same")
    func addressCase() async throws {
        let ada = try await server.signUp(email: "Ada@Example.org", password: "analytical")
        await expectError(AuthenticationError.self, .accountExists) {
            try await server.signUp(email: "ada@example.org", password: "difference")
        }
        let known = try await server.signIn(email: "ada@example.ORG", password: "analytical")
        #expect(known.firebaseUserID == ada.firebaseUserID)
        try await server.sendPasswordReset(email: "ADA@example.org")
        #expect(firebase.passwordResets == ["ada@example.org"])
    }

    @Test("A disabled user cannot be linked")
    func linkOfDisabledUser() async throws {
        let anonymous = try await server.signInAnonymously()
        firebase.setDisabled(true, user: "user-1")
        await expectError(AuthenticationError.self, .accountDisabled) {
            try await server.link(anonymous, email: "ada@example.org", password: "analytical")
        }
    }

    @Test(
        "Requests have the form of the REST interface, at the service and at the emulator",
        arguments: [
            (nil, "identitytoolkit.googleapis.com", ""),
            ("http://127.0.0.1:9099", "127.0.0.1:9099", "/identitytoolkit.googleapis.com"),
        ] as [(String?, String, String)]
    )
    func form(emulator: String?, authority: String, prefix: String) async throws {
        let transport = ScriptedHTTPTransport([
            .json(
                #"""
                {"kind":"identitytoolkit#SignupNewUserResponse","idToken":"t","email":"",
                "refreshToken":"r","expiresIn":"3600","localId":"u"}
                """#
            ),
            .json(
                #"""
                {"access_token":"t2","expires_in":"3600","token_type":"Bearer",
                "refresh_token":"r2","id_token":"t2","user_id":"u","project_id":"1"}
                """#
            ),
            .json(#"{"kind":"identitytoolkit#GetOobConfirmationCodeResponse","email":"a@b.org"}"#),
        ])
        let server = FirebaseIdentityServer(
            apiKey: "key",
            transport: transport,
            emulator: emulator.flatMap(URL.init(string:))
        )
        let credentials = try await server.signInAnonymously()
        let renewed = try await server.refresh(credentials)
        #expect(renewed.accessToken == "t2" && renewed.refreshToken == "r2")
        try await server.sendPasswordReset(email: "a@b.org")
        let calls = transport.calls
        #expect(calls[0].head.authority == authority)
        #expect(calls[0].head.path == prefix + "/v1/accounts:signUp")
        #expect(calls[0].text == #"{"returnSecureToken":true}"#)
        #expect(calls[1].head.path?.hasSuffix("/v1/token") == true)
        #expect(calls[1].text == "grant_type=refresh_token&refresh_token=r")
        #expect(calls[2].text.contains("returnSecureToken") == false)
        for call in calls {
            #expect(call.head.headerFields[try #require(.init("X-Goog-Api-Key"))] == "key")
            #expect(call.head.headerFields[.authorization] == nil)
        }
    }
}
