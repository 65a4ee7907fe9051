#if AsyncHTTPClient && TestServer
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelConformance
import KeelHTTP
import KeelTestKit
import KeelTestServer
import KeelTestSupport
import Testing

/// Bytes that a server may send after a response, by mistake or because an attacker chose the body.
private let excesses = [
    "x", "\r\n", "more of the body than was announced",
    "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged",
    "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforgedHTTP/1.1 200 OK\r\nX-Forged: ",
    "HTTP/1.1 200 OK\r\nX-Forged: ", "HTTP/1.1 2", "HTTP/1.1 103 Early Hints\r\n\r\n",
]

/// A response, with the method it answers and its body.
struct Framed: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var method = HTTPRequest.Method.get
    let bytes: String
    var body = "right"

    static let all = [
        Framed(
            testDescription: "a length",
            bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright"
        ),
        Framed(
            testDescription: "chunks",
            bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nright\r\n0\r\n\r\n"
        ),
        Framed(
            testDescription: "chunks and a trailer",
            bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "5\r\nright\r\n0\r\nX-Sum: 1\r\n\r\n"
        ),
        Framed(testDescription: "no content", bytes: "HTTP/1.1 204 No Content\r\n\r\n", body: ""),
        Framed(
            testDescription: "a length of nought",
            bytes: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            body: ""
        ),
        Framed(
            testDescription: "the length of what HEAD leaves out",
            method: .head,
            bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
            body: ""
        ),
        Framed(
            testDescription: "an interim response before it",
            bytes: "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n"
                + "Content-Length: 5\r\n\r\nright"
        ),
    ]
}

@Suite("Excess bytes after a response over AsyncHTTPClient", .timeLimit(.minutes(1)))
struct ExcessTests {
    @Test(
        "Consecutive calls get their own responses, each on its own connection",
        arguments: Framed.all,
        excesses
    )
    func inTurn(_ framed: Framed, _ excess: String) async throws {
        let count = 5
        try await serve { connection in
            while let request = try await connection.readRequest() {
                // A client that skips the connection may have closed it by now.
                guard request.target != "/clean" else {
                    try await connection.write(answer(body: "clean"))
                    continue
                }
                try await connection.write(framed.bytes + excess)
            }
        } while: { server, transport in
            for _ in 0..<count {
                let answer = try await exchange(server, transport, framed.method)
                #expect(answer.body == framed.body)
                #expect(answer.fields[.forged] == nil)
            }
            #expect(try await exchange(server, transport, path: "/clean").body == "clean")
            #expect(server.requests.map(\.connection) == Array(0...count))
        }
    }

    @Test("Calls waiting for a connection get no forged response", arguments: excesses)
    func queued(_ excess: String) async throws {
        var settings = AsyncHTTPClientTransport.Configuration()
        settings.connectionsPerHost = 1
        try await serve(with: settings) { connection in
            while let request = try await connection.readRequest() {
                try await connection.write(answer(body: request.target) + excess)
            }
        } while: { server, transport in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let answer = try await exchange(server, transport, path: "/\(number)")
                        #expect(answer.body == "/\(number)")
                        #expect(answer.fields[.forged] == nil)
                    }
                }
                try await group.waitForAll()
            }
            #expect(server.requests.count == 20)
        }
    }

    @Test("Bytes on an idle connection end it", arguments: excesses)
    func idle(_ excess: String) async throws {
        let (read, isRead) = AsyncStream.makeStream(of: Void.self)
        let (hungUp, hangUp) = AsyncStream.makeStream(of: Void.self)
        try await serve { connection in
            while try await connection.readRequest() != nil {
                try await connection.write(answer(body: "right"))
                guard connection.number == 0 else { continue }
                await end(of: read)
                try await connection.write(excess)
                await connection.stall()
                hangUp.finish()
                return
            }
        } while: { server, transport in
            let first = try await exchange(server, transport).body
            #expect(first == "right")
            isRead.finish()
            await end(of: hungUp)
            #expect(try await exchange(server, transport).body == "right")
            #expect(try await exchange(server, transport).body == "right")
            #expect(server.requests.map(\.connection) == [0, 1, 1])
        }
    }

    @Test("Late excess bytes are treated like a closed connection")
    func late() async throws {
        let handler: @Sendable (RawConnection) async throws -> Void = { connection in
            var isFirst = true
            while try await connection.readRequest() != nil {
                let isBroken = !isFirst && connection.number < 3
                isFirst = false
                try await connection.write(isBroken ? "the rest" : answer(body: #""right""#))
                if isBroken { return await connection.stall() }
            }
        }
        try await serve(handler) { server, transport in
            let client = NetworkClient(
                baseURL: try #require(URL(string: "http://\(server.authority)")),
                transport: transport
            )
            for _ in 0..<4 { #expect(try await client.get("/", as: String.self) == "right") }
            #expect(server.requests.map(\.connection) == [0, 0, 1, 1, 2, 2, 3])
        }
        try await serve(handler) { server, transport in
            _ = try await exchange(server, transport)
            let error = await #expect(throws: TransportError.self) {
                try await exchange(server, transport, .post)
            }
            // The outcome of the request is unknown.
            #expect(error?.code == .staleConnection)
            #expect(error?.processed == .maybe)
        }
    }

    @Test("A server that does not speak HTTP is not treated as a stale connection")
    func noHTTP() async throws {
        try await serve { connection in
            while try await connection.readRequest() != nil {
                try await connection.write("220 ready\r\n")
                await connection.stall()
            }
        } while: { server, transport in
            await expectError(TransportError.self, .protocolViolation) {
                try await exchange(server, transport)
            }
        }
    }

    @Test("A response arrives whole however it is split, and its connection is reused")
    func pieces() async throws {
        var random = SeededRandom(seed: 20)
        let sizes = (0..<40).map { _ in Int.random(in: 0...5000, using: &random) }
        let parts = sizes.map { _ in Int.random(in: 1...4, using: &random) }
        try await serve { connection in
            while let request = try await connection.readRequest() {
                let number = Int(request.target.dropFirst()) ?? 0
                let body = String(repeating: "\(number % 10)", count: sizes[number])
                let chunk =
                    body.isEmpty ? "" : "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n"
                var bytes = Array(
                    (number.isMultiple(of: 2)
                        ? answer(body: body)
                        : "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)0\r\n\r\n")
                        .utf8
                )
                let size = max(1, bytes.count / parts[number])
                while !bytes.isEmpty {
                    try await connection.write(Array(bytes.prefix(size)))
                    bytes.removeFirst(min(size, bytes.count))
                }
            }
        } while: { server, transport in
            for number in sizes.indices {
                let answer = try await exchange(server, transport, path: "/\(number)")
                #expect(answer.body == String(repeating: "\(number % 10)", count: sizes[number]))
            }
            #expect(Set(server.requests.map(\.connection)) == [0])
        }
    }

    private func end(of signal: AsyncStream<Void>) async { for await _ in signal {} }

    private func serve(
        with settings: AsyncHTTPClientTransport.Configuration = .init(),
        _ handler: @escaping @Sendable (RawConnection) async throws -> Void,
        while work: @Sendable (FaultServer, AsyncHTTPClientTransport) async throws -> Void
    ) async throws {
        let transport = AsyncHTTPClientTransport(settings)
        // Writes to a client that has hung up are lost, as expected.
        let serving: @Sendable (RawConnection) async throws -> Void = { connection in
            do { try await handler(connection) } catch { await connection.close() }
        }
        try await FaultServer.run(serving: serving) { server in
            do {
                try await work(server, transport)
                await transport.shutdown()
            } catch {
                await transport.shutdown()
                throw error
            }
        }
    }

    @discardableResult
    private func exchange(
        _ server: FaultServer,
        _ transport: AsyncHTTPClientTransport,
        _ method: HTTPRequest.Method = .get,
        path: String = "/"
    ) async throws -> (body: String, fields: HTTPFields) {
        let head = HTTPRequest("http://\(server.authority)\(path)", method)
        let reply = try await transport.send(HTTPCall(head))
        let bytes = try await reply.body.collect(upTo: 1 << 20)
        return (String(decoding: bytes, as: UTF8.self), reply.head.headerFields)
    }
}

extension HTTPField.Name {
    fileprivate static let forged = known("X-Forged")
}
#endif
