import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Bearer tokens on calls")
struct BearerAuthorizationTests {
    private func client(
        _ identity: IdentityModel,
        _ session: AuthSession<BearerCredentials>,
        _ transport: ScriptedHTTPTransport? = nil
    ) throws -> NetworkClient {
        try makeClient(transport ?? identity.transport()) { $0.authorize(with: session) }
    }

    /// Holds all answers until this many requests have arrived, each signed with the old token.
    private static func holding(_ count: Int, _ identity: IdentityModel) -> ScriptedHTTPTransport {
        let arrived = Counter()
        let door = Door()
        return ScriptedHTTPTransport(
            then: .init { call async throws(TransportError) in
                if arrived.next() == count { door.open() }
                await door.wait()
                return identity.respond(to: call.head)
            }
        )
    }

    @Test("A thousand rejected calls cause one refresh, and all succeed")
    func refreshesOnce() async throws {
        let identity = IdentityModel()
        let session = try await identity.signedIn()
        identity.revokeAccess()
        let transport = Self.holding(1000, identity)
        let client = try client(identity, session, transport)
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    (try? await client.response(to: GetProfile()).get().status.code) ?? 0
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [200: 1000])
        #expect(identity.refreshCount == 1)
        #expect(identity.mostConcurrentRefreshes == 1)
    }

    @Test("A failed refresh runs once and fails each of a thousand calls with one error")
    func failsOnce() async throws {
        let identity = IdentityModel { _ in throw NetworkError(.noConnection) }
        let session = try await identity.signedIn()
        identity.revokeAccess()
        let transport = Self.holding(1000, identity)
        let client = try client(identity, session, transport)
        let outcomes = await withTaskGroup(of: String.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    switch await client.response(to: GetProfile()) {
                    case .success(let response): return "\(response.status.code)"
                    case .failure(let error):
                        let reason = error.cause as? AuthenticationError
                        return "\(error.code) \(reason?.code.name ?? "")"
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(outcomes == ["credentialsUnavailable refreshFailed": 1000])
        #expect(identity.refreshCount == 1)
        #expect(transport.calls.count == 1000)
        #expect(session.state == .signedIn(version: 1))
    }

    @Test("A call signed with older credentials is resent without a refresh")
    func replaysOldVersion() async throws {
        let identity = IdentityModel()
        let session = try await identity.signedIn()
        let door = Door()
        let transport = ScriptedHTTPTransport(
            [
                .init { call async throws(TransportError) in
                    await door.wait()
                    return identity.respond(to: call.head)
                }
            ],
            then: .init { call async throws(TransportError) in identity.respond(to: call.head) }
        )
        let client = try client(identity, session, transport)
        async let late = client.response(to: GetProfile()).get().status
        await door.waitForArrival()
        try await session.refresh()
        identity.revokeAccess()
        try await session.refresh()
        door.open()
        #expect(try await late == .ok)
        #expect(identity.refreshCount == 2)
        #expect(identity.accepted == ["access-3-SECRET"])
    }

    @Test("A 401 response to an earlier user's call neither renews nor resends for the new user")
    func keepsUsersApart() async throws {
        let identity = IdentityModel()
        let session = try await identity.signedIn()
        identity.revokeAccess()
        let door = Door()
        let transport = ScriptedHTTPTransport(
            then: .init { call async throws(TransportError) in
                await door.wait()
                return identity.respond(to: call.head)
            }
        )
        let client = try client(identity, session, transport)
        let late = Task { await client.response(to: GetProfile()) }
        await door.waitForArrival()
        try await session.signOut()
        try await session.signIn { identity.grant() }
        door.open()
        let error = try #require(await late.value.failure)
        #expect((error.cause as? AuthenticationError)?.code == .superseded)
        #expect(identity.refreshCount == 0)
        #expect(session.state == .signedIn(version: 2))
        #expect(transport.calls.count == 1)
    }

    @Test("New credentials are saved before they sign any call")
    func savesBeforeReplay() async throws {
        let identity = IdentityModel()
        let store = RecordingStore()
        let session = try await identity.signedIn(store: store)
        identity.revokeAccess()
        let transport = ScriptedHTTPTransport(
            then: .init { call async throws(TransportError) in
                let field = call.head.headerFields[.authorization] ?? ""
                store.note("send \(field.dropFirst("Bearer ".count))")
                return identity.respond(to: call.head)
            }
        )
        _ = await (try client(identity, session, transport)).response(to: GetProfile())
        #expect(
            store.log == [
                "save access-1-SECRET", "send access-1-SECRET", "save access-2-SECRET",
                "send access-2-SECRET",
            ]
        )
    }

    @Test("A call rejected twice is sent twice and returns the second rejection")
    func doesNotLoop() async throws {
        let identity = IdentityModel()
        let session = try await identity.signedIn()
        let transport = ScriptedHTTPTransport(then: .status(.unauthorized))
        let client = try client(identity, session, transport)
        #expect(try await client.response(to: GetProfile()).get().status == .unauthorized)
        #expect(transport.calls.count == 2)
        #expect(identity.refreshCount == 1)
    }

    @Test("Endless rejections reach the refresh limit and throw a typed error")
    func limitsStorms() async throws {
        let identity = IdentityModel()
        var policy = AuthSessionPolicy()
        // All refreshes are within the window, however long the calls take.
        policy.now = { Date(timeIntervalSince1970: 0) }
        let session = try await identity.signedIn(policy: policy)
        let client = try client(
            identity,
            session,
            ScriptedHTTPTransport(then: .status(.unauthorized))
        )
        var outcomes: [String] = []
        for _ in 0..<7 {
            switch await client.response(to: GetProfile()) {
            case .success(let response): outcomes.append("\(response.status.code)")
            case .failure(let error):
                outcomes.append((error.cause as? AuthenticationError)?.code.name ?? "")
            }
        }
        #expect(identity.refreshCount == 5)
        #expect(outcomes.prefix(5).allSatisfy { $0 == "401" })
        #expect(outcomes.suffix(2).allSatisfy { $0.contains("tooManyRefreshes") })
    }

    @Test(
        "Insufficient scope does not trigger a refresh",
        arguments: [
            (#"Bearer realm="api", error="insufficient_scope", scope="admin""#, 0),
            (#"Bearer error=insufficient_scope"#, 0),
            (#"Basic realm="x", Bearer error = "insufficient_scope""#, 0),
            (#"Bearer realm="say error=\"insufficient_scope\"", error="invalid_token""#, 1),
            (#"Bearer error="invalid_token", error_description="insufficient_scope""#, 1),
            ("Bearer", 1),
        ]
    )
    func leavesLackOfScope(field: String, refreshes: Int) async throws {
        let identity = IdentityModel()
        let session = try await identity.signedIn()
        let transport = ScriptedHTTPTransport(
            then: .status(.unauthorized, headers: [.wwwAuthenticate: field])
        )
        _ = await (try client(identity, session, transport)).response(to: GetProfile())
        #expect(identity.refreshCount == refreshes)
        #expect(transport.calls.count == 1 + refreshes)
    }

    @Test("Only calls to allowed origins are signed, even after a redirect")
    func respectsOrigins() async throws {
        let transport = ScriptedHTTPTransport([
            .redirect(to: "https://elsewhere.example/x"), .status(.ok),
            .redirect(to: "https://API.example.com:443/v1/y"), .status(.ok),
        ])
        let client = try makeClient(transport) { $0.authorize(with: StaticToken("t")) }
        _ = await client.response(to: GetProfile())
        _ = await client.response(to: GetProfile())
        #expect(
            transport.calls.map { $0.head.headerFields[.authorization] } == [
                "Bearer t", nil, "Bearer t", "Bearer t",
            ]
        )
    }

    @Test(
        "Origins are compared by scheme, host and port",
        arguments: [
            ("https", "api.example.com", true), ("https", "API.example.com:443", true),
            ("http", "api.example.com", false), ("https", "api.example.com:8443", false),
            ("https", "api.example.com.evil.example", false),
            ("https", "api.example.com@evil.example", false), ("https", "example.com", false),
        ]
    )
    func comparesOrigins(scheme: String, authority: String, isSame: Bool) throws {
        let url = try #require(URL(string: "https://api.example.com/v1"))
        let head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/")
        #expect((HTTPOrigin(head) == HTTPOrigin(url)) == isSame)
    }

    @Test("A call may go unsigned, require a token or treat it as optional")
    func respectsOptions() async throws {
        let identity = IdentityModel()
        let session = AuthSession(server: identity)
        let transport = ScriptedHTTPTransport(then: .status(.ok))
        let client = try client(identity, session, transport)
        func send(_ wish: HTTPAuthentication) async -> Result<NetworkResponse, TransportError> {
            var endpoint = GetProfile()
            endpoint.options.authentication = wish
            return await client.response(to: endpoint)
        }
        #expect(try await send(.none).get().status == .ok)
        #expect(try await send(.optional).get().status == .ok)
        let refusal = await expectError(TransportError.self, .credentialsUnavailable) {
            try await send(.required).get()
        }
        #expect(refusal?.processed == .no)
        #expect(transport.calls.count == 2)
        let expired = AuthSession(server: identity)
        try await expired.signIn { BearerCredentials(accessToken: "old", expiresAt: .distantPast) }
        let other = try self.client(identity, expired, transport)
        var endpoint = GetProfile()
        endpoint.options.authentication = .optional
        #expect(try await other.response(to: endpoint).get().status == .ok)
        #expect(expired.state == .expired)
        try await session.signIn { identity.grant() }
        _ = await send(.none)
        _ = await send(.optional)
        var own = HTTPCall(
            HTTPRequest("https://api.example.com/", .get, [.authorization: "Basic own"])
        )
        own.options.authentication = .required
        _ = try await client.send(own)
        #expect(
            transport.calls.dropFirst(3).map { $0.head.headerFields[.authorization] } == [
                nil, "Bearer access-1-SECRET", "Basic own",
            ]
        )
    }

    @Test("A body that cannot be replayed is not resent")
    func sendsBodiesOnce() async throws {
        let identity = IdentityModel()
        let session = try await identity.signedIn()
        identity.revokeAccess()
        let transport = identity.transport()
        let client = try client(identity, session, transport)
        let body = HTTPBody(length: nil, isReplayable: false) { () async throws(TransportError) in
            .chunks([[1]])
        }
        let head = HTTPRequest("https://api.example.com/", .post)
        let reply = try await client.send(HTTPCall(head, body: body))
        #expect(reply.head.status == .unauthorized)
        #expect(transport.calls.count == 1)
        #expect(identity.refreshCount == 0)
    }

    @Test("An OAuth server can be asked through the client that it signs for")
    func refreshesThroughSameClient() async throws {
        let transport = ScriptedHTTPTransport([
            .status(.unauthorized),
            .json(#"{"access_token": "new", "expires_in": "60", "refresh_token": "r2"}"#),
            .status(.ok),
        ])
        // The identity server gets its client late, because the client's layers need the session first.
        let late = LateServer()
        let session = AuthSession(server: late)
        let client = try makeClient(transport) { $0.authorize(with: session) }
        late.server.withLock {
            $0 = OAuthIdentityServer(client, path: "/token", fields: ["client_id": "app"])
        }
        try await session.signIn { BearerCredentials(accessToken: "old", refreshToken: "r 1") }
        #expect(try await client.response(to: GetProfile()).get().status == .ok)
        let calls = transport.calls
        #expect(
            calls.map { $0.head.headerFields[.authorization] } == ["Bearer old", nil, "Bearer new"]
        )
        #expect(calls[1].text == "grant_type=refresh_token&refresh_token=r%201&client_id=app")
        #expect(session.current?.refreshToken == "r2")
        #expect(session.current?.expiresAt != nil)
    }

    @Test("Basic credentials are encoded as UTF-8, and ambiguous ones are rejected")
    func encodesBasic() throws {
        let pair = BasicCredentials(user: "Aladdin", password: "open sesame")
        #expect(pair?.authorization == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        let field = BasicCredentials(user: "test", password: "123£")?.authorization
        #expect(field == "Basic dGVzdDoxMjPCow==")
        #expect(BasicCredentials(user: "a:b", password: "c") == nil)
        #expect(BasicCredentials(user: "a:\u{301}b", password: "c") == nil)
        #expect(BasicCredentials(user: "a", password: "b\nc") == nil)
    }

    @Test("An unreachable identity server means offline, not signed out")
    func tellsOfflineFromSignedOut() async throws {
        let identity = IdentityModel { _ in throw NetworkError(.noConnection) }
        let session = try await identity.signedIn()
        identity.revokeAccess()
        let client = try client(identity, session)
        await expectError(NetworkError.self, .noConnection) {
            try await client.get("/profile", as: Token.self)
        }
        try await session.signOut()
        await expectError(NetworkError.self, .unauthorized) {
            try await client.get("/profile", as: Token.self)
        }
    }
}

final class LateServer: IdentityServer {
    let server = Mutex<OAuthIdentityServer?>(nil)

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        guard let server = server.withLock({ $0 }) else { throw AuthenticationError(.signedOut) }
        return try await server.refresh(credentials)
    }
}
