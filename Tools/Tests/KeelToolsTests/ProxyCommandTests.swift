#if os(Linux) || os(macOS)
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelServing
import KeelToolsTestSupport
import Synchronization
import Testing

@Suite("The command keel proxy", .timeLimit(.minutes(5)))
struct ProxyCommandTests {
    /// Answers once with a response that is stale immediately, and then with 503.
    private final class Origin: ServingHandler {
        private let asked = Mutex<[String: Int]>([:])
        private let fields: HTTPFields

        init(_ fields: HTTPFields) { self.fields = fields }

        func respond(to call: HTTPCall) async -> HTTPReply {
            let number = asked.withLock { asked in
                asked[call.head.path ?? "", default: 0] += 1
                return asked[call.head.path ?? ""] ?? 0
            }
            guard number == 1 else { return .text(.serviceUnavailable, "down\n") }
            var reply = HTTPReply.text(.ok, "up\n")
            reply.head.headerFields.append(contentsOf: fields)
            // Without a length, the client sees the end only after the cache has stored the response.
            reply.head.headerFields[.contentLength] = nil
            return reply
        }
    }

    private static func fields(_ control: String) -> HTTPFields {
        // A validator, so that a response without a lifetime is worth keeping.
        [.cacheControl: control, .eTag: "\"1\""]
    }

    /// Sends requests with these fields through the command to an origin.
    private func ask(
        _ options: [String],
        _ fields: HTTPFields,
        _ requests: [HTTPFields] = [[:], [:]]
    ) async throws -> [Int] {
        let origin = Origin(fields)
        return try await RunningServer.with(origin) { originPort in
            let process = try KeelProcess(
                ["proxy", "--origin", "http://127.0.0.1:\(originPort)"] + options
            )
            defer {
                process.kill()
                _ = process.wait()
            }
            let address = process.nextLine()
            let authority = try #require(address.split(separator: "/").last.map(String.init))
            let transport = AsyncHTTPClientTransport()
            var statuses: [Int] = []
            for fields in requests {
                let head = HTTPRequest(.get, to: authority, "/a", fields)
                let reply = try await transport.send(HTTPCall(head))
                statuses.append(reply.head.status.code)
                _ = try await reply.body.collect(upTo: 1_000)
            }
            await transport.shutdown()
            return statuses
        }
    }

    @Test(
        "A stale response replaces a failing origin if an option or the response allows it",
        arguments: [
            ([], "max-age=0", 503), (["--stale-if-error", "1h"], "max-age=0", 200),
            (["--stale-if-error", "1h"], "max-age=0, must-revalidate", 503),
            (["--stale-if-error", "1h"], "no-cache", 503),
            ([], "max-age=0, stale-if-error=600", 200),
            (["--stale-if-offline", "1h"], "max-age=0", 503),
            (["--stale-if-error", "1h"], "max-age=0, proxy-revalidate", 503),
            (["--private", "--stale-if-error", "1h"], "max-age=0, proxy-revalidate", 200),
        ]
    )
    func stale(options: [String], control: String, status: Int) async throws {
        let statuses = try await ask(options, Self.fields(control))
        #expect(statuses == [200, status])
    }

    @Test("Only a shared proxy honors CDN-Cache-Control", arguments: [true, false])
    func targeted(isShared: Bool) async throws {
        var fields = Self.fields("no-store")
        fields[try #require(HTTPField.Name("CDN-Cache-Control"))] = "max-age=600"
        let statuses = try await ask(isShared ? [] : ["--private"], fields)
        #expect(statuses == [200, isShared ? 200 : 503])
    }

    @Test("A response for one user is not given to another")
    func users() async throws {
        let users: [HTTPFields] = [[.cookie: "sid=ann"], [.cookie: "sid=ben"]]
        // The origin answers only the first request.
        #expect(try await ask([], Self.fields("private, max-age=60"), users) == [200, 503])
    }

    /// Runs `body` with a connection to the command in front of an origin.
    private static func withProxy(
        of originPort: Int,
        _ options: [String] = [],
        _ body: (RawClient) async throws -> Void
    ) async throws {
        let process = try KeelProcess(
            ["proxy", "--origin", "http://127.0.0.1:\(originPort)"] + options
        )
        defer {
            process.kill()
            _ = process.wait()
        }
        let port = process.nextLine().split(separator: ":").last.flatMap { Int($0) }
        try await RawClient.connected(to: try #require(port), body)
    }

    @Test(
        "A request on a stale connection is sent again once if that is safe",
        arguments: [("GET", "200"), ("DELETE", "200"), ("POST", "502")]
    )
    func staleConnections(method: String, status: String) async throws {
        try await RawServer.with { number, peer in
            let answer =
                "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 5\r\n\r\ndone\n"
            guard try await peer.read(until: "\r\n\r\n") else { return }
            peer.forget()
            try await peer.send(answer)
            // The second request on the first connection finds it closed.
            _ = number == 1 ? "\(try await peer.read(until: "\r\n\r\n"))" : await peer.readToEnd()
        } _: { originPort in
            try await Self.withProxy(of: originPort) { client in
                try await client.send("GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n")
                #expect(try await client.read(until: "done\n"))
                client.forget()
                try await client.send("\(method) /b HTTP/1.1\r\nHost: a.test\r\n\r\n")
                #expect(try await client.read(until: "\n"))
                #expect(client.received.hasPrefix("HTTP/1.1 \(status) "))
            }
            return
        }
    }

    @Test(
        "Any method is forwarded to the origin by name",
        arguments: ["M-SEARCH", "PURGE", "REPORT"]
    )
    func methods(method: String) async throws {
        let lines = Mutex<[Substring]>([])
        try await RawServer.with { _, peer in
            _ = try await peer.read(until: "\r\n\r\n")
            lines.withLock { $0.append(peer.received.split(separator: "\r\n").first ?? "") }
            try await peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        } _: { originPort in
            try await Self.withProxy(of: originPort) { client in
                try await client.send("\(method) /a HTTP/1.1\r\nHost: a.test\r\n\r\n")
                #expect(try await client.read(until: "\r\n"))
                #expect(client.received.hasPrefix("HTTP/1.1 204 "))
            }
            return
        }
        #expect(lines.withLock { $0 } == ["\(method) /a HTTP/1.1"])
    }

    @Test("A silent origin is given up with status 504")
    func silence() async throws {
        try await RawServer.with { _, peer in
            guard try await peer.read(until: "\r\n\r\n") else { return }
            _ = await peer.readToEnd()
        } _: { originPort in
            try await Self.withProxy(of: originPort, ["--timeout", "1s"]) { client in
                try await client.send("GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n")
                #expect(try await client.read(until: "\r\n"))
                #expect(client.received.hasPrefix("HTTP/1.1 504 "))
            }
            return
        }
    }

    @Test("Invalid ages are rejected", arguments: ["1", "x", "-1s", ""])
    func refused(age: String) throws {
        let options = ["proxy", "--origin", "http://127.0.0.1:1", "--stale-if-error=\(age)"]
        #expect(try KeelProcess(options).wait().code == 64)
    }
}
#endif
