import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// Creates a reply without an announced length, as is common in HTTP/2.
private func unannounced(_ status: Int, _ bytes: Int, _ fields: HTTPFields = [:]) -> HTTPReply {
    HTTPReply(
        head: HTTPResponse(status: .init(code: status), headerFields: fields),
        body: .chunks([[UInt8](repeating: 1, count: bytes)])
    )
}

/// With a limit of one, a call that holds its place while it waits for a second one waits forever.
@Suite("Concurrency slots of replaced replies", .timeLimit(.minutes(1)))
struct HeldPlaceTests {
    private func client(
        _ transport: ScriptedHTTPTransport,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        try makeClient(transport) {
            $0.timeout = .seconds(45)
            change(&$0)
            $0.attemptMiddleware.append(ConcurrencyLimitMiddleware(1))
        }
    }

    @Test("A redirect releases its slot, whatever its body", arguments: [0, 10, 8192, 100_000])
    func redirects(bytes: Int) async throws {
        let transport = ScriptedHTTPTransport([
            .init { _ in unannounced(302, bytes, [.location: "/b"]) },
            .init { _ in
                unannounced(302, bytes, [.location: "/c", .contentLength: String(bytes)])
            },
            .status(.ok),
        ])
        let client = try client(transport)
        #expect(try await client.response(to: GetProfile()).get().status == .ok)
        #expect(transport.calls.map { $0.head.path } == ["/v1/profile", "/b", "/c"])
    }

    @Test(
        "A rejected token releases its slot before the renewal",
        arguments: [0, 10, 8192, 100_000]
    )
    func renewals(bytes: Int) async throws {
        let late = LateServer()
        let session = AuthSession(server: late)
        let transport = ScriptedHTTPTransport([
            .init { _ in unannounced(401, bytes) },
            .json(#"{"access_token": "new", "refresh_token": "r2"}"#),
            .status(.ok),
        ])
        // The renewal needs the place that the refused call had.
        let client = try client(transport) { $0.authorize(with: session) }
        late.server.withLock { $0 = OAuthIdentityServer(client, path: "/token") }
        try await session.signIn { BearerCredentials(accessToken: "old", refreshToken: "r1") }
        #expect(try await client.response(to: GetProfile()).get().status == .ok)
        #expect(transport.calls.count == 3)
    }

    @Test("Calls that wait for a renewal hold no slot of a limit set before authorizing")
    func waitsOutsideLimits() async throws {
        let late = LateServer()
        let session = AuthSession(server: late)
        let transport = ScriptedHTTPTransport(
            [.json(#"{"access_token": "new", "refresh_token": "r2"}"#)],
            then: .status(.ok)
        )
        let client = try makeClient(transport) {
            $0.timeout = .seconds(45)
            $0.attemptMiddleware = [ConcurrencyLimitMiddleware(1)]
            $0.authorize(with: session)
        }
        late.server.withLock { $0 = OAuthIdentityServer(client, path: "/token") }
        try await session.signIn {
            BearerCredentials(accessToken: "old", refreshToken: "r1", expiresAt: .distantPast)
        }
        let statuses: [HTTPResponse.Status] = try await withThrowingTaskGroup(
            of: HTTPResponse.Status.self
        ) { group in
            for _ in 0..<6 {
                group.addTask { try await client.response(to: GetProfile()).get().status }
            }
            var all: [HTTPResponse.Status] = []
            for try await status in group { all.append(status) }
            return all
        }
        #expect(statuses == Array(repeating: .ok, count: 6))
        #expect(transport.calls.count == 7)
    }

    @Test("Layers that add credentials are above the others")
    func placesAuthorization() throws {
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.attemptMiddleware = [ConcurrencyLimitMiddleware(1)]
        configuration.authorize(with: StaticToken("fixed"))
        configuration.authorize(with: try #require(BasicCredentials(user: "a", password: "b")))
        #expect(
            configuration.attemptMiddleware.map { "\(type(of: $0))" } == [
                "BearerAuthorization<StaticToken>", "BasicAuthorization",
                "ConcurrencyLimitMiddleware",
            ]
        )
    }

    @Test("A final rejection keeps its body")
    func keepsRefusals() async throws {
        let transport = ScriptedHTTPTransport([
            .init { _ in unannounced(401, 10) }, .init { _ in unannounced(401, 70_000) },
        ])
        let client = try client(transport) { $0.authorize(with: StaticToken("fixed")) }
        let short = try await client.response(to: GetProfile()).get()
        #expect(short.status == .unauthorized)
        #expect(short.body.count == 10)
        // A longer body is not kept in memory: it ends with an error rather than as if it were complete.
        let long = await client.response(to: GetProfile())
        #expect(throws: TransportError.self) { try long.get() }
    }

    @Test("A failed response releases its slot for the hedged request")
    func hedges() async throws {
        let clock = TestClock()
        var settings = HedgingMiddleware.Settings()
        settings.minimumSamples = 50
        let hedging = HedgingMiddleware(settings, clock: clock)
        let limit = ConcurrencyLimitMiddleware(1)
        let requests = Counter()
        let next = HTTPNext { call async throws(TransportError) in
            try await limit.intercept(
                call,
                next: HTTPNext { _ async throws(TransportError) in
                    guard requests.next() == 51 else { return unannounced(200, 1) }
                    try? await clock.sleep(for: .seconds(1))
                    return unannounced(503, 10)
                }
            )
        }
        var call = HTTPCall(
            HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
        )
        for _ in 1...50 { _ = try await hedging.intercept(call, next: next).body.collect(upTo: 10) }
        let log = HTTPEventLog()
        call.recorder = HTTPEventRecorder([log], clock: clock)
        let reply = Task { [call] in try await hedging.intercept(call, next: next).head.status }
        // Only once the second request is under way: without one, the failed response would be the answer.
        try await waitUntil {
            log.events.contains { if case .hedged = $0.kind { true } else { false } }
        }
        await clock.advance(by: .seconds(1), onceAsleep: 1)
        #expect(try await reply.value == .ok)
        #expect(requests.count == 52)
    }
}
