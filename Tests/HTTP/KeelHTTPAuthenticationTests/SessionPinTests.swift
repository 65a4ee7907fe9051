import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("The user of a call", .timeLimit(.minutes(1)))
struct SessionPinTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    private let identity = IdentityModel()

    private func client(
        _ transport: ScriptedHTTPTransport,
        _ session: AuthSession<BearerCredentials>
    ) throws -> NetworkClient {
        try makeClient(transport) {
            $0.authorize(with: session)
            $0.retry = .attempts(3)
            $0.retry.jitter = { 0 }
        }
    }

    private func signedIn() async throws -> AuthSession<BearerCredentials> {
        let session = AuthSession(server: identity)
        try await session.signIn { identity.grant() }
        return session
    }

    /// Replaces the user before it answers.
    private func replacing(
        _ session: AuthSession<BearerCredentials>,
        then answer: HTTPReply
    ) -> Answer {
        Answer { [identity] _ async throws(TransportError) in
            try? await session.signOut()
            try? await session.signIn { identity.grant() }
            return answer
        }
    }

    private func reason(
        _ outcome: Result<NetworkResponse, TransportError>
    ) -> AuthenticationError.Code? {
        guard case .failure(let error) = outcome, error.code == .credentialsUnavailable else {
            return nil
        }
        return (error.cause as? AuthenticationError)?.code
    }

    @Test("A retry is not sent for a user who has signed in since")
    func retries() async throws {
        let session = try await signedIn()
        let busy = HTTPReply(head: HTTPResponse(status: .serviceUnavailable))
        let transport = ScriptedHTTPTransport([replacing(session, then: busy)], then: .status(.ok))
        let client = try client(transport, session)
        #expect(await reason(client.response(to: GetProfile())) == .superseded)
        #expect(transport.calls.count == 1)
        // The next call is the new user's.
        #expect(try await client.response(to: GetProfile()).get().status == .ok)
    }

    @Test("A retry is sent with the renewed token of the same user")
    func renewals() async throws {
        let session = try await signedIn()
        let renewing = Answer { _ async throws(TransportError) in
            try? await session.refresh()
            return HTTPReply(head: HTTPResponse(status: .serviceUnavailable))
        }
        let transport = ScriptedHTTPTransport([renewing], then: .status(.ok))
        let client = try client(transport, session)
        #expect(try await client.response(to: GetProfile()).get().status == .ok)
        #expect(
            transport.calls.map { $0.head.headerFields[.authorization] } == [
                "Bearer access-1-SECRET", "Bearer access-2-SECRET",
            ]
        )
    }

    @Test("A retry of a call without a user is not sent for a user who has signed in since")
    func unsignedRetries() async throws {
        let session = AuthSession(server: identity)
        let busy = HTTPReply(head: HTTPResponse(status: .serviceUnavailable))
        let transport = ScriptedHTTPTransport([replacing(session, then: busy)], then: .status(.ok))
        var profile = GetProfile()
        profile.options.authentication = .optional
        let client = try client(transport, session)
        #expect(await reason(client.response(to: profile)) == .superseded)
        #expect(transport.calls.map { $0.head.headerFields[.authorization] } == [nil])
    }

    /// Does something before it passes on its first call.
    private final class Interposed: HTTPMiddleware {
        private let work: Mutex<(@Sendable () async -> Void)?>

        init(_ work: @escaping @Sendable () async -> Void) { self.work = Mutex(work) }

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            let work = work.withLock { $0.take() }
            await work?()
            return try await next(call)
        }
    }

    @Test("A response that was sent for a passing user is not shared")
    func sharing() async throws {
        let session = AuthSession(server: identity)
        try await session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
        let gate = Gate()
        let transport = ScriptedHTTPTransport(
            then: Answer { call async throws(TransportError) in
                guard (try? await gate.pass()) != nil else { throw TransportError(.cancelled) }
                let token = call.head.headerFields[.authorization] ?? ""
                return HTTPReply(
                    head: HTTPResponse(status: .ok),
                    body: .chunks([Array(token.utf8)])
                )
            }
        )
        let layer = CoalescingMiddleware()
        let client = try makeClient(transport) {
            $0.timeout = nil
            $0.middleware = [layer]
            $0.hopMiddleware = [
                Interposed {
                    try? await session.signIn(as: "ben") { BearerCredentials(accessToken: "ben") }
                }
            ]
            $0.authorize(with: session)
        }
        let first = Task { try await client.response(to: GetProfile()).get().body }
        try await waitUntil { gate.begunCount == 1 }
        try await session.signIn(as: "ann") { BearerCredentials(accessToken: "ann") }
        let second = Task { try await client.response(to: GetProfile()).get().body }
        try await waitUntil { layer.waiterCount == 2 }
        gate.open()
        #expect(try await first.value == Array("Bearer ben".utf8))
        #expect(try await second.value == Array("Bearer ann".utf8))
    }

    @Test("A call with an owner is sent for this user only")
    func owners() async throws {
        let session = try await signedIn()
        let transport = ScriptedHTTPTransport(then: .status(.ok))
        let client = try client(transport, session)
        var profile = GetProfile()
        profile.options.owner = await session.identity
        #expect(profile.options.owner != nil)
        #expect(try await client.response(to: profile).get().status == .ok)
        profile.options.authentication = .optional
        try await session.signOut()
        #expect(await reason(client.response(to: profile)) == .superseded)
        try await session.signIn { identity.grant() }
        #expect(await reason(client.response(to: profile)) == .superseded)
        profile.options.authentication = .required
        #expect(await reason(client.response(to: profile)) == .superseded)
        #expect(transport.calls.count == 1)
    }

    @Test("A call with an owner is sent with the owner's password only")
    func ownersOfPasswords() async throws {
        let transport = ScriptedHTTPTransport(then: .status(.ok))
        let credentials = try #require(BasicCredentials(user: "ann", password: "secret"))
        let client = try makeClient(transport) { $0.authorize(with: credentials) }
        let origin = try #require(HTTPOrigin(client.configuration.baseURL))
        let layer = BasicAuthorization(credentials, origins: [origin])
        var profile = GetProfile()
        profile.options.owner = await layer.identity
        #expect(profile.options.owner != nil)
        #expect(try await client.response(to: profile).get().status == .ok)
        profile.options.owner = "ben"
        #expect(await reason(client.response(to: profile)) == .superseded)
        #expect(transport.calls.count == 1)
    }

    @Test("A call with an owner is not sent with the token of a source that does not name its user")
    func ownersOfUnknownUsers() async throws {
        struct Nameless: TokenSource {
            func token() async -> AccessToken { AccessToken("secret") }
        }
        let transport = ScriptedHTTPTransport(then: .status(.ok))
        let client = try makeClient(transport) { $0.authorize(with: Nameless()) }
        var profile = GetProfile()
        #expect(try await client.response(to: profile).get().status == .ok)
        profile.options.owner = "ann"
        #expect(await reason(client.response(to: profile)) == .userUnknown)
        #expect(transport.calls.count == 1)
    }

    @Test("An event stream does not reconnect for a user who has signed in since")
    func eventStreams() async throws {
        let session = try await signedIn()
        let events = HTTPReply(
            head: HTTPResponse(status: .ok, headerFields: [.contentType: "text/event-stream"]),
            body: .chunks([Array("data: a\n\n".utf8)])
        )
        let transport = ScriptedHTTPTransport(
            [replacing(session, then: events)],
            then: .status(.noContent)
        )
        let client = try client(transport, session)
        var policy = EventStreamPolicy()
        policy.jitter = { 0 }
        var seen: [String] = []
        var failure: NetworkError?
        do throws(NetworkError) {
            for try await event in client.eventStream(GetProfile(), policy: policy) {
                seen.append(event.data)
            }
        } catch {
            failure = error
        }
        #expect(failure?.code == .unauthorized)
        #expect(seen == ["a"])
        #expect(transport.calls.count == 1)
    }
}
