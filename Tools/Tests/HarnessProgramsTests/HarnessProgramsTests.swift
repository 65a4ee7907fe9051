import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelWebSocket
import Testing

@testable import AutobahnTestee
@testable import TraceContextService

@Suite("Programs for external test suites")
struct HarnessProgramsTests {
    @Test("The Autobahn testee echoes each case and requests the report")
    func autobahn() async throws {
        let transport = ScriptedWebSocketTransport([
            .connection([.text("2")], end: .close(WebSocketClose(.normal))),
            .connection([.text("a"), .binary([1])], end: .close(WebSocketClose(.normal))),
            .failure(WebSocketError(.notConnected)),
            .connection([], end: .close(WebSocketClose(.normal))),
        ])
        let base = try #require(URLComponents(string: "ws://127.0.0.1:9001"))
        let suite = AutobahnSuite(base: base, agent: "Keel", transport: transport)
        let count = try await suite.caseCount()
        #expect(count == 2)
        for number in 1...count { await suite.run(number) }
        try await suite.writeReport()
        #expect(transport.sent == [.text("a"), .binary([1])])
        #expect(
            transport.requests.map(\.path) == [
                "/getCaseCount", "/runCase?agent=Keel&case=1", "/runCase?agent=Keel&case=2",
                "/updateReports?agent=Keel",
            ]
        )
    }

    @Test("The trace context service makes the requested calls in the caller's trace")
    func traceContext() async throws {
        let transport = ScriptedHTTPTransport([.status(.ok), .status(.ok)])
        var head = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/test")
        head.headerFields[.traceParent] = "00-12345678901234567890123456789012-1234567890123456-03"
        head.headerFields[.traceState] = "foo=1"
        let body = #"""
            [{"url":"http://127.0.0.1:7777/1","arguments":[{"url":"http://b/","arguments":[]}]},
             {"url":"http://127.0.0.1:7777/2?x=1","arguments":[]}]
            """#
        let reply = await CallbackHandler(transport: transport)
            .respond(to: HTTPCall(head, body: HTTPBody(Array(body.utf8))))
        #expect(reply.head.status == .ok)
        let calls = transport.calls
        #expect(calls.map(\.head.path) == ["/1", "/2?x=1"])
        #expect(calls.map(\.head.authority) == ["127.0.0.1:7777", "127.0.0.1:7777"])
        let parents = calls.compactMap { $0.head.headerFields[.traceParent] }
        #expect(parents.allSatisfy { $0.hasPrefix("00-12345678901234567890123456789012-") })
        #expect(parents.allSatisfy { $0.hasSuffix("-03") })
        #expect(Set(parents).count == 2)
        #expect(calls.allSatisfy { $0.head.headerFields[.traceState] == "foo=1" })
    }

    @Test("The trace context service rejects a body that is not a list of calls")
    func refuses() async {
        let head = HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/test")
        let reply = await CallbackHandler(transport: ScriptedHTTPTransport([]))
            .respond(to: HTTPCall(head, body: HTTPBody(Array("{}".utf8))))
        #expect(reply.head.status == .badRequest)
    }
}
