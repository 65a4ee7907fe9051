#if TestServer
import HTTPTypes
import KeelTestKit
import KeelTestServer
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@Suite("FaultServer with a raw client", .timeLimit(.minutes(1)))
struct FaultServerTests {
    private typealias Client = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Sends each text and reads until its answer ends as specified, or the server closes.
    private func talk(
        _ server: FaultServer,
        over tls: NIOSSLContext? = nil,
        _ turns: [(send: String, until: String?)]
    ) async throws -> String {
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: server.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: "localhost")
                        )
                    }
                    return try Client(wrappingChannelSynchronously: channel)
                }
            }
        return try await client.executeThenClose { inbound, outbound in
            var chunks = inbound.makeAsyncIterator()
            var all = ""
            for turn in turns {
                try await outbound.write(ByteBuffer(string: turn.send))
                var answer = ""
                while turn.until.map({ !answer.hasSuffix($0) }) ?? true {
                    guard let chunk = try await chunks.next() else { return all + answer }
                    answer += String(buffer: chunk)
                }
                all += answer
            }
            return all
        }
    }

    @Test("The response has exactly these bytes")
    func exactBytes() async throws {
        let answers: [FaultServer.Answer] = [
            .text("one", headers: [.eTag: "1"]),
            HTTPTestAnswer(body: [[97], [98, 99]]).trailing([.eTag: "2"])
                .preceded(by: .earlyHints),
            .status(.init(code: 999)), .status(.noContent),
        ]
        try await FaultServer.run(answers: answers) { server in
            let ask = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
            let text = try await talk(
                server,
                [(ask, "one"), (ask, "2\r\n\r\n"), (ask, "\r\n\r\n"), (ask, "\r\n\r\n")]
            )
            #expect(
                text
                    == """
                    HTTP/1.1 200 OK\r\nContent-Length: 3\r\nETag: 1\r
                    Content-Type: text/plain; charset=utf-8\r\n\r\none\
                    HTTP/1.1 103 Early Hints\r\n\r\n\
                    HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n\
                    0\r\nETag: 2\r\n\r\n\
                    HTTP/1.1 999 Unnamed\r\nContent-Length: 0\r\n\r\n\
                    HTTP/1.1 204 No Content\r\n\r\n
                    """
            )
            #expect(server.connections.count == 1)
        }
    }

    @Test("A handler sees the request, and its error becomes a response")
    func handlers() async throws {
        struct Refusal: Error, CustomStringConvertible { let description = "I would rather not." }
        try await FaultServer.run { request in
            if request.path == "/bad" { throw Refusal() }
            return .text(request.text.uppercased())
        } operation: { server in
            let text = try await talk(
                server,
                [
                    ("POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "ABC"),
                    ("GET /bad HTTP/1.1\r\n\r\n", "not."),
                ]
            )
            #expect(text.contains("500 Internal Server Error"))
            #expect(server.failures == ["I would rather not."])
        }
    }

    @Test("A function can handle the raw bytes, also over TLS", arguments: [true, false])
    func rawBytes(isSecure: Bool) async throws {
        let authority = try TestAuthority()
        let tls = isSecure ? FaultServer.TLS(try authority.identity()) : nil
        let context = try NIOSSLContext(configuration: authority.clientConfiguration())
        try await FaultServer.run(.init(tls: tls)) { connection in
            while let request = try await connection.readRequest() {
                try await connection.write("<\(request.target):\(request.text)>")
                if request.target == "/last" { return }
            }
        } operation: { server in
            let text = try await talk(
                server,
                over: isSecure ? context : nil,
                [
                    ("PUT /a HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", ">"),
                    ("GET /last HTTP/1.1\r\n\r\n", nil),
                ]
            )
            #expect(text == "</a:x></last:>")
            #expect(server.requests.map(\.numberOnConnection) == [0, 1])
            #expect((server.requests.first?.security != nil) == isSecure)
        }
    }

    @Test("Connections are closed on request and at the end of the test")
    func closing() async throws {
        let port = try await FaultServer.run(answers: [.text("one")]) { server in
            async let text = talk(server, [("GET / HTTP/1.1\r\n\r\n", nil)])
            try await server.waitForAnswers(1)
            await server.closeConnections()
            #expect(try await text.hasSuffix("one"))
            #expect(try await server.waitForConnections(1, closed: true).count == 1)
            return server.port
        }
        await #expect(throws: (any Error).self) {
            _ = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port).get()
        }
    }

    @Test("A body that the server does not read is not consumed")
    func unreadBodies() async throws {
        let answer = HTTPTestAnswer.text("early").reading(.atMost(10))
        try await FaultServer.run(answers: [answer]) { server in
            let head = "POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n0123456789"
            let text = try await talk(server, [(head, "early")])
            #expect(text.hasSuffix("early"))
            let request = try await server.waitForRequests(1, whole: false)[0]
            #expect(!request.isComplete)
            #expect(request.bodyLength == 10)
        }
    }

    @Test("A response can be sent while the request is still arriving")
    func earlyAnswers() async throws {
        let answer = HTTPTestAnswer.text("early").reading(.headFirst)
        try await FaultServer.run(answers: [answer, .text("next")]) { server in
            let text = try await talk(
                server,
                [
                    ("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nab", "early"),
                    ("cdGET / HTTP/1.1\r\n\r\n", "next"),
                ]
            )
            #expect(text.hasSuffix("next"))
            #expect(server.requests.map(\.text) == ["abcd", ""])
        }
    }
}
#endif
