import HTTPTypes
import KeelHTTP
import KeelServing
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Reverse proxy", .timeLimit(.minutes(1)))
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

    // MARK: Silent origins

    private func proxy(
        _ transport: ScriptedHTTPTransport,
        timeout: Duration?,
        on clock: TestClock = TestClock()
    ) -> ReverseProxy {
        ReverseProxy(
            scheme: "https",
            authority: "origin.test",
            transport: transport,
            timeout: timeout,
            clock: clock
        )
    }

    private func call(_ body: HTTPBody? = nil) -> HTTPCall {
        HTTPCall(HTTPRequest("http://127.0.0.1:8080/a", body == nil ? .get : .put), body: body)
    }

    @Test("The silence of the origin is limited, by default to a minute")
    func limits() async {
        let transport = ScriptedHTTPTransport(then: .status(.ok))
        _ = await ask(transport)
        _ = await proxy(transport, timeout: .seconds(5)).respond(to: call())
        _ = await proxy(transport, timeout: nil).respond(to: call())
        #expect(
            transport.calls.map(\.timeouts) == [
                HTTPTimeouts(firstByte: .seconds(60), idle: .seconds(60)),
                HTTPTimeouts(firstByte: .seconds(5), idle: .seconds(5)), HTTPTimeouts(),
            ]
        )
    }

    @Test("An origin that has received a body and sends nothing is given up with status 504")
    func silence() async throws {
        let clock = TestClock()
        let gate = Gate()
        let transport = ScriptedHTTPTransport(
            then: .init { _ async throws(TransportError) in
                _ = try? await gate.pass()
                throw TransportError(.cancelled)
            }
        )
        let proxy = proxy(transport, timeout: .seconds(60), on: clock)
        let call = call(HTTPBody(Array("text".utf8)))
        let status = try await clock.run { await proxy.respond(to: call).head.status }
        #expect(status == .gatewayTimeout)
        #expect(gate.cancelledCount == 1)
        let sent = try #require(transport.calls.first)
        #expect(sent.text == "text")
        #expect(sent.timeouts == HTTPTimeouts(idle: .seconds(60)))
    }

    @Test("The time that the client needs to send a body is not limited")
    func slowClients() async throws {
        let clock = TestClock()
        let gate = Gate()
        let body = HTTPBody(length: nil, isReplayable: false) {
            () async throws(TransportError) in
            HTTPByteStream { () async throws(TransportError) in
                _ = try? await gate.pass()
                return nil
            }
        }
        let proxy = proxy(
            ScriptedHTTPTransport(then: .status(.ok)),
            timeout: .seconds(60),
            on: clock
        )
        let call = call(body)
        let status = Task { await proxy.respond(to: call).head.status }
        try await waitUntil { gate.begunCount == 1 }
        for _ in 1...3 { await clock.advance(by: .seconds(60), onceAsleep: 1) }
        gate.open()
        #expect(await status.value == .ok)
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
            call.onInterimResponse?(HTTPResponse(status: .init(code: 103), headerFields: fields))
            return HTTPReply(head: HTTPResponse(status: .ok))
        }
    }
}
