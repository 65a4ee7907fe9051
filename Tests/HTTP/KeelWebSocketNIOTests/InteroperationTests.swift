#if WebSocket
import HTTPTypes
import KeelTestKit
import KeelWebSocket
import KeelWebSocketNIO
import Testing

@Suite(
    "Interoperability with PyPI's websockets",
    .serialized,
    .enabled(if: EchoServer.isPresent, EchoServer.absence)
)
struct InteroperationTests {
    /// The compression offers of both sides.
    struct Compression: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var server: [String] = []
        var client: WebSocketDeflate?
        var agreed: [String] = []
    }

    static let compressions: [Compression] = {
        var small = WebSocketDeflate()
        small.clientWindowBits = 9
        small.serverWindowBits = 9
        var forgetful = WebSocketDeflate()
        forgetful.clientNoContextTakeover = true
        forgetful.serverNoContextTakeover = true
        var always = WebSocketDeflate()
        always.minimumSize = 0
        always.level = 1
        return [
            Compression(testDescription: "none"),
            Compression(testDescription: "offered in vain", client: WebSocketDeflate()),
            Compression(
                testDescription: "the usual offer",
                server: ["--deflate"],
                client: always,
                agreed: ["permessage-deflate"]
            ),
            Compression(
                testDescription: "windows that the server limits",
                server: ["--deflate", "--window", "10"],
                client: always,
                agreed: ["permessage-deflate; server_max_window_bits=10; client_max_window_bits=10"]
            ),
            Compression(
                testDescription: "windows that the client limits",
                server: ["--deflate"],
                client: small,
                agreed: ["permessage-deflate; server_max_window_bits=9; client_max_window_bits=9"]
            ),
            Compression(
                testDescription: "no memory on either side",
                server: ["--deflate"],
                client: forgetful,
                agreed: [
                    "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
                ]
            ),
            Compression(
                testDescription: "no memory, as the server wants it",
                server: ["--deflate", "--no-takeover"],
                client: always,
                agreed: [
                    "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
                ]
            ),
        ]
    }()

    @Test("A thousand random messages are echoed unchanged", arguments: compressions)
    func echo(_ compression: Compression) async throws {
        let seed = UInt64.random(in: 1...9_999_999)
        var generator = SeededRandom(seed: seed)
        let messages = (0..<1000).map { index -> WebSocketMessage in
            let length = index % 100 == 0 ? 70_000 : Int.random(in: 0...600, using: &generator)
            switch index % 3 {
            case 0: return .binary(generator.bytes(length))
            case 1: return .text(generator.text(length))
            default: return .text(String(repeating: "{\"price\":12}", count: length / 12))
            }
        }
        try await EchoServer.run(compression.server) { port in
            try await NIOWebSocketTransport().withConnection(
                to: request(port),
                configuration: configuration {
                    $0.deflate = compression.client
                    $0.outgoingFrameSize = 10_000
                }
            ) { connection in
                #expect(connection.handshake.extensions == compression.agreed)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        for message in messages { try await connection.send(message) }
                    }
                    for message in messages {
                        let echo = try await connection.receive()
                        try #require(echo == message, "seed \(seed)")
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test("An offered subprotocol is selected, and the app's header fields arrive")
    func subprotocol() async throws {
        try await EchoServer.run(["--subprotocol", "chat.v2", "--subprotocol", "chat.v1"]) { port in
            let name = try #require(HTTPField.Name("X-Test"))
            try await NIOWebSocketTransport().withConnection(
                to: request(port, [name: "hello"]),
                configuration: configuration { $0.subprotocols = ["chat.v3", "chat.v1"] }
            ) { connection in
                #expect(connection.subprotocol == "chat.v1")
                try await connection.send("headers")
                let echo = try await connection.receive()
                #expect(echo == .text("hello"))
            }
        }
    }

    @Test(
        "A rejection keeps its status, fields and body",
        arguments: [(403, "/refused"), (302, "/redirect")]
    )
    func refusal(status: Int, path: String) async throws {
        try await EchoServer.run { port in
            let error = try await failure {
                try await NIOWebSocketTransport().withConnection(
                    to: request(port, path: path),
                    configuration: configuration()
                ) { _ in _ = Issue.record("not refused") }
            }
            #expect(error?.code == .upgradeRefused)
            let refusal = try #require(error?.response)
            #expect(refusal.head.status.code == status)
            #expect(refusal.isComplete)
            let body = String(decoding: refusal.body, as: UTF8.self)
            #expect(body == (status == 403 ? "not for you\n" : "elsewhere\n"))
            if status == 403 {
                #expect(refusal.head.headerFields[try #require(.init("X-Reason"))] == "policy")
            }
        }
    }

    @Test("Pings are answered in both directions, and either side can close")
    func pingsAndCloses() async throws {
        try await EchoServer.run { port in
            let transport = NIOWebSocketTransport()
            let patient = configuration { $0.pongTimeout = .seconds(100) }
            try await transport.withConnection(to: request(port), configuration: patient) {
                connection in
                try await connection.ping()
                try await connection.send("ping")
                let pong = try await connection.receive()
                #expect(pong == .text("pong"))
                try await connection.close(WebSocketCloseCode(4001), reason: "enough")
                let end = try await connection.receive()
                #expect(end == nil)
            }
            let error = try await failure {
                try await transport.withConnection(to: request(port), configuration: patient) {
                    connection in
                    try await connection.send("close 4002")
                    for try await _ in connection.messages {}
                }
            }
            #expect(error?.close == WebSocketClose(WebSocketCloseCode(4002), reason: "as asked"))
        }
    }
}
#endif
