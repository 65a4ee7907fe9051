import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import KeelWebSocket
import Synchronization
import Testing

@Suite("ReconnectingWebSocket")
struct ReconnectingWebSocketTests {
    private static let target = HTTPRequest(method: .get, scheme: "ws", authority: "a", path: "/")
    private static let lost = WebSocketError(transport: TransportError(.connectionLost))

    private static func socket(
        over transport: ScriptedWebSocketTransport,
        on clock: TestClock,
        attempts: Int = .max
    ) -> ReconnectingWebSocket {
        let retry = RetryPolicy(
            attempts: attempts,
            baseDelay: .seconds(1),
            maximumDelay: .seconds(60)
        )
        return ReconnectingWebSocket(
            to: target,
            over: transport,
            policy: WebSocketReconnectPolicy(retry: retry),
            clock: clock
        )
    }

    /// Runs a script to its end, and returns the messages read and the error.
    private func run(
        _ script: [ScriptedWebSocketTransport.Attempt],
        attempts: Int = .max
    ) async throws -> (messages: [WebSocketMessage], error: WebSocketError?, attempts: Int) {
        let clock = TestClock()
        let transport = ScriptedWebSocketTransport(script)
        let socket = Self.socket(over: transport, on: clock, attempts: attempts)
        let got = Mutex<[WebSocketMessage]>([])
        let error = try await clock.run {
            try await failure {
                try await socket.run { connection in
                    for try await message in connection.messages {
                        got.withLock { $0.append(message) }
                    }
                }
            }
        }
        return (got.withLock { $0 }, error, transport.requests.count)
    }

    @Test("Lost connections are reopened until one is closed for good")
    func reconnects() async throws {
        let result = try await run([
            .failure(Self.lost),
            .connection([.text("1")], end: .failure(Self.lost)),
            .failure(
                WebSocketError(
                    .upgradeRefused,
                    response: .init(head: .init(status: .init(code: 503)))
                )
            ),
            .connection([.text("2")], end: .close(WebSocketClose(.goingAway))),
            .connection([.text("3")], end: .close(WebSocketClose(.serviceRestart))),
            .connection([.text("4")], end: .failure(WebSocketError(.pongTimeout))),
            .connection([.text("5")], end: .close(WebSocketClose(.normal))),
        ])
        #expect(result.messages == (1...5).map { .text("\($0)") })
        #expect(result.error == nil)
        #expect(result.attempts == 7)
    }

    @Test(
        "An error that a new connection cannot fix ends the run",
        arguments: [
            WebSocketError(.protocolViolation), WebSocketError(.handshakeInvalid),
            WebSocketError(closedBy: WebSocketClose(WebSocketCloseCode(4001))),
            WebSocketError(closedBy: WebSocketClose(.policyViolation)),
            WebSocketError(.upgradeRefused, response: .init(head: .init(status: .unauthorized))),
            WebSocketError(transport: TransportError(.tlsUntrusted)),
            WebSocketError(
                transport: TransportError(
                    .credentialsUnavailable,
                    cause: AuthenticationError(.denied)
                )
            ),
        ]
    )
    func givesUp(_ error: WebSocketError) async throws {
        let result = try await run([.connection([], end: .failure(error))])
        #expect(result.error?.code == error.code)
        #expect(result.attempts == 1)
    }

    @Test("The policy's limit on consecutive failures is respected")
    func attempts() async throws {
        let result = try await run(.init(repeating: .failure(Self.lost), count: 9), attempts: 4)
        #expect(result.error?.code == .transport)
        #expect(result.attempts == 4)
    }

    @Test(
        "A pause that the server asks for is respected, up to a limit",
        arguments: [(asked: 90, least: 90), (asked: 86_400, least: 300)]
    )
    func serversPause(asked: Int, least: Int) async throws {
        let head = HTTPResponse(
            status: .serviceUnavailable,
            headerFields: [.retryAfter: "\(asked)"]
        )
        let refusal = WebSocketError(.upgradeRefused, response: .init(head: head))
        let transport = ScriptedWebSocketTransport([
            .failure(refusal), .connection([], end: .close(WebSocketClose(.normal))),
        ])
        let clock = TestClock()
        let socket = Self.socket(over: transport, on: clock)
        let states = socket.states()
        try await clock.run {
            try await socket.run { connection in
                for try await _ in connection.messages {}
            }
        }
        var pauses: [Duration] = []
        for await case .waiting(let pause, _) in states { pauses.append(pause) }
        let expected = Duration.seconds(least)...Duration.seconds(least + 1)
        #expect(pauses.count == 1)
        #expect(pauses.allSatisfy { expected.contains($0) })
    }

    @Test("An error of the app ends the run and is thrown unchanged")
    func errorOfTheApp() async throws {
        struct Oops: Error {}
        let transport = ScriptedWebSocketTransport([.connection([], end: .never)])
        let socket = ReconnectingWebSocket(to: Self.target, over: transport)
        await #expect(throws: Oops.self) { try await socket.run { _ in throw Oops() } }
        guard case .ended(nil) = socket.state else { return fail("the state is \(socket.state)") }
    }

    @Test("The states follow the connection, and sending requires a connection")
    func states() async throws {
        let clock = TestClock()
        let transport = ScriptedWebSocketTransport([
            .failure(Self.lost), .connection([.text("1")], end: .close(WebSocketClose(.normal))),
        ])
        let socket = Self.socket(over: transport, on: clock)
        let early = try await failure { try await socket.send(.text("early")) }
        #expect(early?.code == .notConnected)
        let states = socket.states()
        try await clock.run {
            try await socket.run { connection in
                try await socket.send(.text("now"))
                for try await _ in connection.messages {}
            }
        }
        var story: [String] = []
        for await state in states {
            switch state {
            case .idle: story.append("idle")
            case .connecting(let attempt): story.append("connecting \(attempt)")
            case .connected: story.append("connected")
            case .waiting(let pause, let error):
                #expect((.zero...(.seconds(1))).contains(pause))
                story.append("waiting after \(error.code)")
            case .ended(let error): story.append("ended \(error == nil)")
            }
        }
        #expect(
            story == [
                "idle", "connecting 1", "waiting after transport", "connecting 2", "connected",
                "ended true",
            ]
        )
        #expect(transport.sent == [.text("now")])
        var late = 0
        for await _ in socket.states() { late += 1 }
        #expect(late == 1)
    }

    @Test("Canceling ends a pause or a connection at once", arguments: [true, false])
    func cancellation(_ duringPause: Bool) async throws {
        let transport = ScriptedWebSocketTransport(
            duringPause ? [.failure(Self.lost)] : [.connection([], end: .never)]
        )
        let clock = TestClock()
        let socket = Self.socket(over: transport, on: clock)
        let states = socket.states()
        let run = Task {
            try await failure {
                try await socket.run { connection in for try await _ in connection.messages {} }
            }
        }
        for await state in states {
            if case .waiting = state { break }
            if case .connected = state { break }
        }
        run.cancel()
        let error = try await run.value
        #expect(error?.code == .cancelled)
        #expect(transport.requests.count == 1)
    }

    @Test("Each connection uses its own request")
    func requests() async throws {
        let clock = TestClock()
        let transport = ScriptedWebSocketTransport([
            .failure(Self.lost), .connection([], end: .close(WebSocketClose(.normal))),
        ])
        let count = Counter()
        let socket = ReconnectingWebSocket(over: transport, clock: clock) {
            () async throws(WebSocketError) in
            var request = Self.target
            request.headerFields[.authorization] = "token \(count.next())"
            return request
        }
        try await clock.run { try await socket.run { _ in } }
        #expect(
            transport.requests.map { $0.headerFields[.authorization] } == ["token 1", "token 2"]
        )
    }

    @Test("Each code of WebSocketError has a unique name and advice")
    func codes() {
        let codes = WebSocketError.Code.known
        #expect(Set(codes.map(\.name)).count == codes.count)
        for code in codes {
            #expect(code.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
            #expect(code.advice.hasSuffix(".") && code.advice.count > 15)
            #expect(WebSocketError(code).message.hasSuffix("."))
        }
    }
}
