#if AsyncHTTPClient && TestServer
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit
import Synchronization
import Testing

@Suite("Interim responses over AsyncHTTPClient and real sockets")
struct InterimResponseTests {
    private static let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"

    /// Sends a request, and returns the statuses and links of its interim responses.
    private func interim(
        before answers: String...,
        body: HTTPBody? = nil
    ) async throws -> ([String], Int) {
        let seen = Mutex<[String]>([])
        let status = try await AnsweringServer.run { request, write in
            for answer in answers { try await write(answer) }
            try await write(answer())
            return .keepOpen
        } while: { port in
            let transport = AsyncHTTPClientTransport()
            let head = HTTPRequest("http://127.0.0.1:\(port)/", body == nil ? .get : .post)
            var call = HTTPCall(head, body: body)
            call.onInterimResponse = { head in
                let link = head.headerFields[values: HTTPField.Name("link") ?? .accept].joined()
                seen.withLock { $0.append("\(head.status.code) \(link)") }
            }
            let reply = try await transport.send(call)
            _ = try await reply.body.collect(upTo: 1_000)
            await transport.shutdown()
            return reply.head.status.code
        }
        return (seen.withLock { $0 }, status)
    }

    @Test("Interim responses are reported in order, before the response", arguments: [false, true])
    func order(isTogether: Bool) async throws {
        let processing = "HTTP/1.1 102 Processing\r\n\r\n"
        let parts = [Self.hints, processing, Self.hints]
        let (seen, status) =
            isTogether
            ? try await interim(before: parts.joined())
            : try await interim(before: parts[0], parts[1], parts[2])
        #expect(seen == ["103 </a.css>; rel=preload", "102 ", "103 </a.css>; rel=preload"])
        #expect(status == 200)
    }

    @Test("Status 100 is not reported, even for a streamed body")
    func ownHop() async throws {
        let body = HTTPBody(length: 3, isReplayable: false) { () async throws(TransportError) in
            .chunks([Array("abc".utf8)])
        }
        let (seen, status) = try await interim(
            before: "HTTP/1.1 100 Continue\r\n\r\n",
            Self.hints,
            body: body
        )
        #expect(seen == ["103 </a.css>; rel=preload"])
        #expect(status == 200)
    }

    @Test("A call without a handler for interim responses still gets its response")
    func untold() async throws {
        try await AnsweringServer.run(answering: Self.hints + answer(), then: .keepOpen) { port in
            try await withClient("http://127.0.0.1:\(port)") { client in
                let item = try await client.request(GetItem())
                #expect(item == Item(name: "Ada"))
            }
        }
    }
}
#endif
