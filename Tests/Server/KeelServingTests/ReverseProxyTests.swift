import HTTPTypes
import KeelHTTP
import KeelServing
import KeelTestKit
import Synchronization
import Testing

@Suite("Reverse proxy")
struct ReverseProxyTests {
    private static let hop = HTTPField.Name("x-hop") ?? .accept
    private static let mine = HTTPField.Name("x-mine") ?? .accept
    private static let other = HTTPField.Name("x-other") ?? .accept

    private func ask(
        _ transport: ScriptedHTTPTransport,
        _ fields: HTTPFields = [:],
        body: HTTPBody? = nil
    ) async -> HTTPReply {
        let proxy = ReverseProxy(scheme: "https", authority: "origin.test", transport: transport)
        let head = HTTPRequest("http://127.0.0.1:8080/a?b=c", body == nil ? .get : .put, fields)
        return await proxy.respond(to: HTTPCall(head, body: body))
    }

    @Test("A request is forwarded to the origin with its fields, query and body")
    func forwards() async throws {
        let transport = ScriptedHTTPTransport([.status(.created, body: Array("done".utf8))])
        let reply = await ask(
            transport,
            [.ifNoneMatch: "\"1\"", .via: "1.0 other"],
            body: HTTPBody(Array("text".utf8))
        )
        #expect(reply.head.status == .created)
        #expect(try await reply.body.collect(upTo: 100) == Array("done".utf8))
        let call = try #require(transport.calls.first)
        #expect(call.head.scheme == "https")
        #expect(call.head.authority == "origin.test")
        #expect(call.head.path == "/a?b=c")
        #expect(call.head.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(call.head.headerFields[values: .via] == ["1.0 other", "1.1 keel"])
        #expect(call.body == Array("text".utf8))
    }

    @Test("Hop-by-hop fields are not forwarded in either direction")
    func hopByHop() async throws {
        let answer: HTTPFields = [
            .connection: "x-hop, close", .eTag: "\"1\"", .transferEncoding: "chunked",
            Self.hop: "1",
        ]
        let transport = ScriptedHTTPTransport([.status(.ok, headers: answer)])
        let asked: HTTPFields = [
            .connection: "x-mine", .te: "trailers", Self.mine: "1", Self.other: "2",
        ]
        let reply = await ask(transport, asked)
        #expect(reply.head.headerFields[.connection] == nil)
        #expect(reply.head.headerFields[Self.hop] == nil)
        #expect(reply.head.headerFields[.transferEncoding] == nil)
        #expect(reply.head.headerFields[.eTag] == "\"1\"")
        let sent = try #require(transport.calls.first).head.headerFields
        #expect(sent[Self.mine] == nil)
        #expect(sent[.te] == nil)
        #expect(sent[Self.other] == "2")
    }

    @Test(
        "A target that is not a path is rejected",
        arguments: ["@other.test/", ".other.test/", ":1/", "*", "", "http://other.test/", nil]
    )
    func foreignTargets(target: String?) async throws {
        let transport = ScriptedHTTPTransport(then: .status(.ok))
        let proxy = ReverseProxy(scheme: "https", authority: "origin.test", transport: transport)
        let head = HTTPRequest(method: .get, scheme: "http", authority: "proxy.test", path: target)
        let reply = await proxy.respond(to: HTTPCall(head))
        #expect(reply.head.status == .badRequest)
        #expect(transport.calls.isEmpty)
    }

    @Test(
        "A failed exchange is answered without revealing the address",
        arguments: [
            (TransportError.Code.connectionRefused, HTTPResponse.Status.badGateway),
            (.responseTimeout, .gatewayTimeout), (.connectTimeout, .gatewayTimeout),
            (.writeTimeout, .gatewayTimeout), (.attemptTimeout, .gatewayTimeout),
            (.deadlineExceeded, .gatewayTimeout), (.poolTimeout, .gatewayTimeout),
        ]
    )
    func failures(code: TransportError.Code, status: HTTPResponse.Status) async throws {
        let reply = await ask(ScriptedHTTPTransport([.failure(TransportError(code))]))
        #expect(reply.head.status == status)
        let text = String(decoding: try await reply.body.collect(upTo: 1000), as: UTF8.self)
        #expect(!text.isEmpty)
        #expect(!text.contains("origin.test"))
    }

    @Test("Interim responses are forwarded without hop-by-hop fields")
    func interim() async throws {
        let seen = Mutex<[HTTPResponse]>([])
        let proxy = ReverseProxy(
            scheme: "https",
            authority: "a.test",
            transport: HintingTransport()
        )
        let head = HTTPRequest(method: .get, scheme: "http", authority: "proxy.test", path: "/")
        var call = HTTPCall(head)
        #expect(await proxy.respond(to: call).head.status == .ok)
        call.onInterimResponse = { head in seen.withLock { $0.append(head) } }
        #expect(await proxy.respond(to: call).head.status == .ok)
        let passed = seen.withLock { $0 }
        #expect(passed.map(\.status.code) == [102, 103])
        #expect(passed.last?.headerFields == [Self.other: "2"])
    }

    private struct HintingTransport: HTTPTransportDouble {
        func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
            call.onInterimResponse?(HTTPResponse(status: .init(code: 102)))
            let fields: HTTPFields = [
                .connection: "x-hop", ReverseProxyTests.hop: "1", ReverseProxyTests.other: "2",
            ]
            call.onInterimResponse?(
                HTTPResponse(status: .init(code: 103), headerFields: fields)
            )
            return HTTPReply(head: HTTPResponse(status: .ok))
        }
    }
}
