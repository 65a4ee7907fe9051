#if os(Linux) || os(macOS)
import HTTPTypes
import KeelHTTP
import KeelServing
import KeelToolsTestSupport
import Synchronization
import Testing

@Suite("Interim responses in keel proxy", .timeLimit(.minutes(5)))
struct InterimResponseTests {
    /// Sends hints before each response; `/slow` waits in between, and `/flood` sends them endlessly.
    private final class Origin: ServingHandler {
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (ends, ender) = AsyncStream.makeStream(of: Void.self)
        private let asked = Mutex(0)

        var count: Int { asked.withLock { $0 } }

        func respond(to call: HTTPCall) async -> HTTPReply {
            asked.withLock { $0 += 1 }
            guard let hint = call.onInterimResponse, let link = HTTPField.Name("link") else {
                return .text(.badRequest, "This server passes no hints on.\n")
            }
            hint(HTTPResponse(status: .init(code: 102)))
            for number in 0..<(call.head.path == "/flood" ? 10_000 : 2) {
                hint(
                    HTTPResponse(
                        status: .init(code: 103),
                        headerFields: [link: "</\(number).css>; rel=preload; as=style"]
                    )
                )
            }
            // These must not reach the connection.
            for code in [100, 101, 200] { hint(HTTPResponse(status: .init(code: code))) }
            if call.head.path == "/slow" {
                for await _ in gate { break }
                if Task.isCancelled { ender.yield() }
            }
            var reply = HTTPReply.text(.ok, "done\n")
            let isStale = call.head.path == "/stale"
            reply.head.headerFields[.cacheControl] =
                isStale ? "max-age=0, stale-while-revalidate=600" : "max-age=600"
            reply.head.headerFields[.eTag] = "\"1\""
            return reply
        }
    }

    /// Runs the command in front of an origin.
    private func withProxy<Value: Sendable>(
        _ origin: Origin,
        _ body: @escaping @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        try await RunningServer.with(origin) { originPort in
            let process = try KeelProcess(["proxy", "--origin", "http://127.0.0.1:\(originPort)"])
            defer {
                process.kill()
                _ = process.wait()
            }
            let port = process.nextLine().split(separator: ":").last.flatMap { Int($0) }
            return try await body(try #require(port))
        }
    }

    private static func head(_ path: String, _ version: String = "1.1") -> String {
        "GET \(path) HTTP/\(version)\r\nHost: localhost\r\n\r\n"
    }

    private static let hints = """
        HTTP/1.1 102 Processing\r\n\r\n\
        HTTP/1.1 103 \r\nlink: </0.css>; rel=preload; as=style\r\n\r\n\
        HTTP/1.1 103 \r\nlink: </1.css>; rel=preload; as=style\r\n\r\n\
        HTTP/1.1 200 OK\r\n
        """

    @Test("The client gets interim responses before the response, and none with a cached one")
    func forwards() async throws {
        let origin = Origin()
        try await withProxy(origin) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send(Self.head("/a"))
                #expect(try await client.read(until: "done\n"))
                #expect(client.received.lowercased().hasPrefix(Self.hints.lowercased()))
                #expect(!client.received.dropFirst(Self.hints.count).contains("link:"))
                client.forget()
                try await client.send(Self.head("/a"))
                #expect(try await client.read(until: "done\n"))
                #expect(client.received.hasPrefix("HTTP/1.1 200 OK\r\n"))
                client.forget()
                // The connection still works: the next response is complete.
                try await client.send(Self.head("/b"))
                #expect(try await client.read(until: "done\n"))
                #expect(client.received.lowercased().hasPrefix(Self.hints.lowercased()))
            }
        }
        #expect(origin.count == 2)
    }

    @Test("Interim responses arrive while the origin is still working")
    func slow() async throws {
        let origin = Origin()
        try await withProxy(origin) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send(Self.head("/slow"))
                #expect(try await client.read(until: "/1.css>"))
                #expect(!client.received.contains("200 OK"))
                origin.opener.yield()
                #expect(try await client.read(until: "done\n"))
            }
        }
    }

    @Test("An HTTP/1.0 client gets only the response")
    func oldClient() async throws {
        try await withProxy(Origin()) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send(Self.head("/a", "1.0"))
                #expect(try await client.read(until: "done\n"))
                #expect(client.received.contains(" 200 OK\r\n"))
                #expect(!client.received.contains("103"))
                #expect(!client.received.contains("102"))
            }
        }
    }

    @Test("A client that leaves after an interim response ends the exchange")
    func leaves() async throws {
        let origin = Origin()
        try await withProxy(origin) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send(Self.head("/slow"))
                #expect(try await client.read(until: "/1.css>"))
            }
            for await _ in origin.ends { break }
            try await RawClient.connected(to: port) { client in
                try await client.send(Self.head("/a"))
                #expect(try await client.read(until: "done\n"))
            }
        }
    }

    @Test("A background revalidation sends the client no interim responses")
    func background() async throws {
        let origin = Origin()
        try await withProxy(origin) { port in
            try await RawClient.connected(to: port) { client in
                for number in 0..<5 {
                    try await client.send(Self.head("/stale"))
                    #expect(try await client.read(until: "done\n"))
                    #expect(client.received.contains("HTTP/1.1 103 ") == (number == 0))
                    client.forget()
                }
            }
        }
    }

    @Test("An endless stream of hints is passed on in part, followed by the response")
    func flood() async throws {
        try await withProxy(Origin()) { port in
            try await RawClient.connected(to: port) { client in
                try await client.send(Self.head("/flood"))
                #expect(try await client.read(until: "done\n"))
                let count = client.received.split(separator: "\r\n").count {
                    $0.contains("HTTP/1.1 103 ")
                }
                #expect((1...64).contains(count))
            }
        }
    }
}
#endif
