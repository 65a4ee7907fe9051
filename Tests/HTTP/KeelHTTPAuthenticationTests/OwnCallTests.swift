import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// An identity server that asks for the profile before it renews.
private final class ProfileReader: IdentityServer {
    // Set late, because the client's layers need the session first.
    let client = Mutex<NetworkClient?>(nil)

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        let client = client.withLock { $0 }
        _ = try await client?.response(to: GetProfile()).get()
        return BearerCredentials(accessToken: "new", refreshToken: "r2")
    }
}

/// An identity server that answers when a gate opens.
private struct HeldServer: IdentityServer {
    let gate: Gate

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        try await gate.pass()
        return BearerCredentials(accessToken: "new", refreshToken: "r2")
    }
}

/// An identity server that begins a task which outlives the renewal.
private final class TaskStarter: IdentityServer {
    let session = Watched<AuthSession<BearerCredentials>?>(nil)
    let door = Door()
    let late = Watched<Task<String, any Error>?>(nil)

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        guard let waiting = session.value else { return credentials }
        await expectError(AuthenticationError.self, .insideRefresh) { try await waiting.token() }
        let task = Task { [door] in
            await door.wait()
            return try await waiting.token().value
        }
        late.change { $0 = task }
        return BearerCredentials(accessToken: "new", refreshToken: "r2")
    }
}

@Suite("Calls for which a session waits", .timeLimit(.minutes(1)))
struct OwnCallTests {
    private let layer = CoalescingMiddleware()

    private func client(
        _ transport: ScriptedHTTPTransport,
        _ session: AuthSession<BearerCredentials>
    ) throws -> NetworkClient {
        try makeClient(transport) {
            $0.timeout = .seconds(45)
            $0.middleware = [layer]
            $0.authorize(with: session)
        }
    }

    private func signIn(_ session: AuthSession<BearerCredentials>) async throws {
        try await session.signIn {
            BearerCredentials(accessToken: "old", refreshToken: "r1", expiresAt: .distantPast)
        }
    }

    @Test("A refresh does not share the exchange of a call that waits for the refresh")
    func refreshes() async throws {
        let reader = ProfileReader()
        let session = AuthSession(server: reader)
        let transport = ScriptedHTTPTransport(then: .status(.ok))
        let client = try client(transport, session)
        reader.client.withLock { $0 = client }
        try await signIn(session)
        #expect(try await client.response(to: GetProfile()).get().status == .ok)
        #expect(
            transport.calls.map { $0.head.headerFields[.authorization] } == [nil, "Bearer new"]
        )
    }

    @Test("A task that a refresh has begun gets a token once the refresh has ended")
    func outlivesRefreshes() async throws {
        let server = TaskStarter()
        let session = AuthSession(server: server)
        server.session.change { $0 = session }
        try await signIn(session)
        try await session.refresh()
        server.door.open()
        let token = try await #require(server.late.value).value
        #expect(token == "new")
    }

    @Test("A user's call does not get the response to the unsigned call of a refresh")
    func staysApart() async throws {
        let gate = Gate()
        let reader = ProfileReader()
        let session = AuthSession(server: reader)
        let transport = ScriptedHTTPTransport(
            then: .init { call async throws(TransportError) in
                if call.head.headerFields[.authorization] != nil {
                    return HTTPReply(head: HTTPResponse(status: .ok))
                }
                guard (try? await gate.pass()) != nil else { throw TransportError(.cancelled) }
                return HTTPReply(head: HTTPResponse(status: .unauthorized))
            }
        )
        let client = try client(transport, session)
        reader.client.withLock { $0 = client }
        try await signIn(session)
        let refresh = Task { try await session.refresh() }
        try await waitUntil { gate.begunCount == 1 }
        #expect(layer.waiterCount == 0)
        let call = Task { try await client.response(to: GetProfile()).get().status }
        try await waitUntil { layer.waiterCount == 1 }
        gate.open()
        #expect(try await call.value == .ok)
        try await refresh.value
    }

    @Test("A clean-up does not share the exchange of a call that waits for a refresh")
    func cleansUp() async throws {
        let gate = Gate()
        let session = AuthSession(server: HeldServer(gate: gate))
        let client = try client(ScriptedHTTPTransport(then: .status(.ok)), session)
        try await signIn(session)
        let waiting = Task { await client.response(to: GetProfile()).failure?.code }
        try await waitUntil { gate.begunCount == 1 }
        let refusal = Mutex<TransportError.Code?>(nil)
        session.onSignOut("profile") { _ in
            let code = await client.response(to: GetProfile()).failure?.code
            refusal.withLock { $0 = code }
        }
        try await session.signIn { BearerCredentials(accessToken: "next") }
        #expect(refusal.withLock { $0 } == .credentialsUnavailable)
        #expect(await waiting.value == .credentialsUnavailable)
    }
}
