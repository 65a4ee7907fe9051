import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelServing
import Testing

@Suite("Responses before the end of the request", .timeLimit(.minutes(10)))
struct EarlyAnswerTests {
    /// Refuses at once, without reading; `/count` reads the body and returns its size, `/hints` after many hints.
    private struct Origin: ServingHandler {
        func respond(to call: HTTPCall) async -> HTTPReply {
            if call.head.path == "/hints" {
                for _ in 0..<100 { call.onInterimResponse?(HTTPResponse(status: .init(code: 103))) }
            } else if call.head.path != "/count" {
                return .text(.contentTooLarge, "refused\n")
            }
            let bytes = try? await call.body?.open().collect(upTo: 16 << 20)
            return .text(.ok, "read \(bytes?.count ?? 0)\n")
        }
    }

    private static func head(_ path: String, _ length: Int) -> String {
        "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n\r\n"
    }

    private static let half = [UInt8](repeating: 120, count: 100_000)

    /// Clients that send half of their body only after the response.
    private func send(to port: Int, clients: Int, rounds: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<clients {
                group.addTask {
                    try await RawClient.connected(to: port) { client in
                        for _ in 0..<rounds {
                            try await client.send(Self.head("/early", 200_000))
                            try await client.send(Self.half)
                            #expect(try await client.read(until: "refused\n"))
                            #expect(client.received.hasPrefix("HTTP/1.1 413"))
                            client.forget()
                            // Some disconnect here, in the middle of their body.
                            guard number % 4 != 0 else { return }
                            for part in 0..<10 {
                                try await client.send(
                                    Array(Self.half[(part * 10_000)...].prefix(10_000))
                                )
                            }
                            try await client.send(Self.head("/count", 5) + "hello")
                            #expect(try await client.read(until: "read 5\n"))
                            client.forget()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A proxy whose origin responds early continues, and so do its connections")
    func proxy() async throws {
        try await RunningServer.with(Origin()) { originPort in
            let transport = AsyncHTTPClientTransport()
            let proxy = ReverseProxy(
                scheme: "http",
                authority: "127.0.0.1:\(originPort)",
                transport: transport
            )
            try await RunningServer.with(proxy) { port in
                try await send(to: port, clients: 48, rounds: 5)
            }
            await transport.shutdown()
        }
    }

    @Test("A handler that does not read the body responds, and the connection continues")
    func server() async throws {
        try await RunningServer.with(Origin()) { port in
            try await send(to: port, clients: 48, rounds: 5)
        }
    }

    @Test("A client that expects it is told to continue when its body is read, and only then")
    func expectation() async throws {
        let fields = "Host: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        try await RunningServer.with(Origin()) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send("POST /count HTTP/1.1\r\n" + fields)
                #expect(try await client.read(until: "\r\n\r\n"))
                #expect(client.received == "HTTP/1.1 100 Continue\r\n\r\n")
                client.forget()
                try await client.send("hello")
                #expect(try await client.read(until: "read 5\n"))
                client.forget()
                try await client.send("POST /early HTTP/1.1\r\n" + fields)
                #expect(try await client.read(until: "refused\n"))
                #expect(client.received.hasPrefix("HTTP/1.1 413"))
                #expect(client.received.lowercased().contains("\r\nconnection: close\r\n"))
                try await client.send("hello")
                // Returns once the server has closed the connection.
                _ = await client.readToEnd()
            }
            try await RawClient.connected(to: port) { client in
                try await client.send("POST /count HTTP/1.0\r\n" + fields + "hello")
                #expect(try await client.read(until: "read 5\n"))
                #expect(!client.received.contains("100 Continue"))
            }
        }
    }

    @Test("A client is told to continue also after as many hints as are sent")
    func expectationAfterHints() async throws {
        try await RunningServer.with(Origin()) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send(
                    "POST /hints HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
                        + "Expect: 100-continue\r\n\r\n"
                )
                #expect(try await client.read(until: "HTTP/1.1 100 Continue\r\n\r\n"))
                try await client.send("hello")
                #expect(try await client.read(until: "read 5\n"))
            }
        }
    }

    @Test("A client that keeps sending an unread body is disconnected")
    func endless() async throws {
        try await RunningServer.with(Origin()) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send(Self.head("/early", 1 << 40))
                #expect(try await client.read(until: "refused\n"))
                // Throws once the connection is closed, after 16 MiB.
                await #expect(throws: (any Error).self) {
                    for _ in 0..<10_000 { try await client.send(Self.half) }
                }
            }
        }
    }
}
