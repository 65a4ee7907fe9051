#if WebSocket
import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCookies
import KeelTestKit
import KeelTestSupport
import KeelWebSocket
import KeelWebSocketNIO
import Synchronization
import Testing

@Suite("WebSockets opened through a client")
struct ClientWebSocketTests {
    /// Provides a new token after each refusal.
    private final class Tokens: TokenSource {
        private let last = Mutex(1)

        func token() -> AccessToken { AccessToken("token-\(last.withLock { $0 })") }

        func token(after refused: AccessToken) -> AccessToken {
            last.withLock { $0 += 1 }
            return token()
        }
    }

    /// A TLS transport without support for pins.
    private struct PlainTransport: WebSocketTransport {
        func withConnection<Value>(
            to request: HTTPRequest,
            configuration: WebSocketConfiguration,
            _ body: (WebSocketConnection) async throws -> Value
        ) async throws -> Value {
            Issue.record("a connection was opened without looking at pins")
            throw WebSocketError(.unknown)
        }
    }

    private func client(
        _ port: Int = 80,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        let address = try #require(URL(string: "http://127.0.0.1:\(port)/api"))
        var settings = NetworkClient.Configuration(baseURL: address)
        change(&settings)
        return NetworkClient(settings, transport: ScriptedHTTPTransport([], features: [.pinning]))
    }

    private static func refusal(_ status: HTTPResponse.Status) -> WebSocketError {
        WebSocketError(
            .upgradeRefused,
            response: .init(head: HTTPResponse(status: status), body: Array("no".utf8))
        )
    }

    private static let opened = ScriptedWebSocketTransport.Attempt.connection(
        [.text("hello")],
        end: .close(WebSocketClose(.normal))
    )

    /// Opens one connection through a client, and returns what it reads.
    private func read(
        _ script: some WebSocketTransport,
        _ client: NetworkClient,
        _ target: HTTPRequest = request(80)
    ) async throws -> [WebSocketMessage] {
        try await client.webSocketTransport(over: script).withConnection(to: target) { connection in
            var all: [WebSocketMessage] = []
            for try await message in connection.messages { all.append(message) }
            return all
        }
    }

    /// Returns a WebSocket that reconnects through a client at once, twice in a row at most.
    private static func socket(
        over script: ScriptedWebSocketTransport,
        of client: NetworkClient
    ) -> ReconnectingWebSocket {
        ReconnectingWebSocket(
            to: request(80),
            over: client.webSocketTransport(over: script),
            configuration: configuration(),
            policy: WebSocketReconnectPolicy(
                retry: RetryPolicy(attempts: 3, baseDelay: .zero, maximumDelay: .zero)
            )
        )
    }

    @Test("A rejected token is renewed once")
    func renewsOnce() async throws {
        let script = ScriptedWebSocketTransport([
            .failure(Self.refusal(.unauthorized)), Self.opened,
        ])
        let client = try client { $0.authorize(with: Tokens()) }
        let messages = try await read(script, client)
        #expect(messages == [.text("hello")])
        #expect(
            script.requests.map { $0.headerFields[.authorization] } == [
                "Bearer token-1", "Bearer token-2",
            ]
        )
        #expect(script.requests.allSatisfy { $0.scheme == "ws" })
    }

    @Test("A second rejection is thrown with the server's response")
    func refusedTwice() async throws {
        let script = ScriptedWebSocketTransport(
            .init(repeating: .failure(Self.refusal(.unauthorized)), count: 3)
        )
        let client = try client { $0.authorize(with: Tokens()) }
        let error = try await failure { _ = try await read(script, client) }
        #expect(error?.code == .upgradeRefused)
        #expect(error?.response?.head.status == .unauthorized)
        #expect(error?.response?.body == Array("no".utf8))
        #expect(error?.url == "ws://127.0.0.1:80/")
        #expect(script.requests.count == 2)
    }

    /// Cannot reach the identity server at the first call.
    private final class Interrupted: TokenSource {
        private let hasFailed = Mutex(false)

        func token() throws -> AccessToken {
            let isFirst = hasFailed.withLock { hasFailed in
                defer { hasFailed = true }
                return !hasFailed
            }
            guard !isFirst else {
                throw AuthenticationError(.refreshFailed, cause: NetworkError(.noConnection))
            }
            return AccessToken("token")
        }
    }

    @Test("A WebSocket reconnects after its token could not be renewed for a while")
    func refreshFails() async throws {
        let script = ScriptedWebSocketTransport([Self.opened])
        let client = try client { $0.authorize(with: Interrupted()) }
        let socket = Self.socket(over: script, of: client)
        let error = try await failure {
            try await socket.run { connection in
                for try await _ in connection.messages {}
            }
        }
        #expect(error == nil)
        #expect(script.requests.map { $0.headerFields[.authorization] } == ["Bearer token"])
    }

    /// Provides the tokens of the users in turn.
    private final class Users: TokenSource {
        private let names = Mutex(["ann", "ben"])

        var identity: String? { names.withLock { $0.first } }

        func token() -> AccessToken { AccessToken(identity ?? "nobody") }
        func change() { names.withLock { _ = $0.removeFirst() } }
    }

    @Test("A WebSocket does not reconnect for another user")
    func anotherUser() async throws {
        let script = ScriptedWebSocketTransport([
            .connection([], end: .close(WebSocketClose(.goingAway))), Self.opened,
        ])
        let users = Users()
        let client = try client { $0.authorize(with: users) }
        let socket = Self.socket(over: script, of: client)
        let error = try await failure {
            try await socket.run { connection in
                defer { users.change() }
                for try await _ in connection.messages {}
            }
        }
        #expect((error?.cause as? TransportError)?.code == .credentialsUnavailable)
        #expect(script.requests.map { $0.headerFields[.authorization] } == ["Bearer ann"])
    }

    @Test("The token and the client's header fields go only to its own origin")
    func otherOrigin() async throws {
        let script = ScriptedWebSocketTransport([Self.opened, Self.opened])
        let client = try client {
            $0.authorize(with: Tokens())
            $0.defaultHeaders[.userAgent] = "app/1"
        }
        _ = try await read(script, client)
        _ = try await read(script, client, request(81))
        #expect(script.requests.map { $0.headerFields[.userAgent] } == ["app/1", nil])
        #expect(script.requests.map { $0.headerFields[.authorization] } == ["Bearer token-1", nil])
    }

    @Test("Cookies are sent, and those of the upgrade response are stored")
    func cookies() async throws {
        let jar = CookieJar()
        try await RawServer.run { peer in
            let request = try await peer.upgrade(["Set-Cookie: seen=1", "Set-Cookie: theme=2"])
            let cookie = request.first { $0.hasPrefix("Cookie:") } ?? "none"
            try await peer.write(Frame.text(cookie).bytes + Frame.close().bytes)
            _ = try await peer.readFrame()
        } while: { port in
            let client = try client(port) { $0.attemptMiddleware.append(jar) }
            let transport = client.webSocketTransport(over: NIOWebSocketTransport())
            var seen: [WebSocketMessage?] = []
            for _ in 0..<2 {
                seen.append(
                    try await transport.withConnection(
                        to: request(port),
                        configuration: configuration()
                    ) { try await $0.receive() }
                )
            }
            #expect(seen == [.text("none"), .text("Cookie: seen=1; theme=2")])
        }
    }

    /// Opens its second connection only when it may, although the request may have been canceled.
    private final class LateTransport: WebSocketTransport {
        let hasBegun = Gate()
        let mayOpen = Gate()
        let hasEnded = Gate()
        private let attempts = Counter()
        private let script = ScriptedWebSocketTransport([
            ClientWebSocketTests.opened,
            .connection([], end: .failure(WebSocketError(.cancelled))),
        ])

        func withConnection<Value>(
            to request: HTTPRequest,
            configuration: WebSocketConfiguration,
            _ body: (WebSocketConnection) async throws -> Value
        ) async throws -> Value {
            let isSecond = attempts.next() == 2
            if isSecond {
                hasBegun.open()
                // A task of its own, which is not canceled at the gate.
                _ = await Task { [mayOpen] in try? await mayOpen.pass() }.value
            }
            defer { if isSecond { hasEnded.open() } }
            return try await script.withConnection(to: request, configuration: configuration, body)
        }
    }

    /// Sends a second request after the answer to the first, and cancels it.
    private struct SecondRequest: HTTPMiddleware {
        let transport: LateTransport

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            let reply = try await next(call)
            let second = Task { _ = try? await next(call) }
            _ = try? await transport.hasBegun.pass()
            second.cancel()
            await second.value
            transport.mayOpen.open()
            _ = try? await transport.hasEnded.pass()
            return reply
        }
    }

    @Test("A connection that opens after its request was canceled is not used")
    func canceledRequest() async throws {
        let transport = LateTransport()
        let client = try client { $0.attemptMiddleware.append(SecondRequest(transport: transport)) }
        let messages = try await read(transport, client)
        #expect(messages == [.text("hello")])
    }

    @Test("The client's time limits do not apply to its WebSockets")
    func timeLimits() async throws {
        let client = try client { $0.timeouts.attempt = .zero }
        let messages = try await read(ScriptedWebSocketTransport([Self.opened]), client)
        #expect(messages == [.text("hello")])
    }

    @Test("Observers of the client see the upgrade")
    func observed() async throws {
        let log = HTTPEventLog()
        let script = ScriptedWebSocketTransport([
            .failure(Self.refusal(.serviceUnavailable)), Self.opened,
        ])
        let client = try client { $0.observers = [log] }
        let error = try await failure { _ = try await read(script, client) }
        #expect(error?.response?.head.status == .serviceUnavailable)
        _ = try await read(script, client)
        #expect(log.summaries.map { $0.lastAttempt?.status } == [503, 101])
    }

    @Test("A client with pins rejects a transport that cannot check them")
    func pinsNeedTransport() async throws {
        let pin = try #require(PublicKeyPins.Pin(digest: [UInt8](repeating: 7, count: 32)))
        let pins = PublicKeyPins(["127.0.0.1": [pin]])
        let client = try client { $0.pins = pins }
        let throughClient = try await failure {
            try await client.webSocketTransport(over: PlainTransport()).withConnection(
                to: request(80)
            ) { _ in }
        }
        #expect((throughClient?.cause as? TransportError)?.code == .invalidConfiguration)
        let socket = ReconnectingWebSocket(
            to: request(80),
            over: PlainTransport(),
            configuration: configuration { $0.pins = pins }
        )
        let reconnecting = try await failure { try await socket.run { _ in } }
        #expect((reconnecting?.cause as? TransportError)?.code == .invalidConfiguration)
    }

    @Test("The client's pins apply to its WebSockets")
    func pinsHold() async throws {
        let pin = try #require(PublicKeyPins.Pin(digest: [UInt8](repeating: 7, count: 32)))
        let client = try client { $0.pins = PublicKeyPins(["localhost": [pin]]) }
        let transport = NIOWebSocketTransport(
            trust: .only(pem: Array(TestCertificate.certificate.utf8))
        )
        try await RawServer.run(tls: TestCertificate.server()) { peer in
            let byte = try await peer.readByte()
            #expect(byte == nil)
        } while: { port in
            let target = secureRequest(port)
            let error = try await failure {
                try await client.webSocketTransport(over: transport).withConnection(
                    to: target,
                    configuration: configuration()
                ) { _ in }
            }
            #expect((error?.cause as? TransportError)?.code == .tlsPinMismatch)
            #expect(error?.url?.hasPrefix("wss://localhost") == true)
        }
    }

    @Test("The close code tells the server how the closure ended", arguments: [true, false])
    func endOfClosure(returns: Bool) async throws {
        struct Oops: Error {}
        let (codes, reporting) = AsyncStream<UInt16?>.makeStream()
        try await RawServer.run { peer in
            defer { reporting.finish() }
            try await peer.upgrade()
            let frame = try await peer.readFrame()
            reporting.yield(frame?.closeCode)
        } while: { port in
            let transport = try client(port).webSocketTransport(over: NIOWebSocketTransport())
            do {
                try await transport.withConnection(
                    to: request(port),
                    configuration: configuration()
                ) { _ in if !returns { throw Oops() } }
                #expect(returns)
            } catch is Oops {
                #expect(!returns)
            }
            let code: UInt16? = await codes.first { _ in true } ?? nil
            #expect(code == (returns ? 1000 : 1001))
        }
    }

    @Test("Canceling ends both an opening and an open connection", arguments: [true, false])
    func cancellation(isOpen: Bool) async throws {
        let (started, starting) = AsyncStream<Void>.makeStream()
        try await RawServer.run { peer in
            if isOpen {
                try await peer.upgrade()
            } else {
                _ = try await peer.readRequest()
                starting.yield()
            }
            for await _ in AsyncStream<Never>.makeStream().stream {}
        } while: { port in
            let transport = try client(port).webSocketTransport(over: NIOWebSocketTransport())
            let task = Task {
                try await failure {
                    try await transport.withConnection(
                        to: request(port),
                        configuration: configuration { $0.closeTimeout = .seconds(100) }
                    ) { connection in
                        starting.yield()
                        _ = try await connection.receive()
                    }
                }
            }
            _ = await started.first { _ in true }
            task.cancel()
            let error = try await task.value
            #expect(error?.code == .cancelled)
        }
    }
}
#endif
