import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

struct Menu: Codable, Hashable, Sendable {
    var id: String
    var name: String?
}

func httpCall(
    _ method: HTTPRequest.Method,
    _ target: String,
    fields: HTTPFields = [:],
    body: String? = nil
) -> HTTPCall {
    HTTPCall(
        HTTPRequest("https://example.org\(target)", method, fields),
        body: body.map { HTTPBody(Array($0.utf8)) }
    )
}

func text(_ reply: HTTPReply) async throws -> String {
    String(decoding: try await reply.body.collect(upTo: 1 << 20), as: UTF8.self)
}

@Suite("Scripted transport", .timeLimit(.minutes(1)))
struct ScriptedHTTPTransportTests {
    @Test("It answers with values as JSON")
    func values() async throws {
        let transport = ScriptedHTTPTransport([.value(Menu(id: "1"), status: .created)])
        let reply = try await transport.send(httpCall(.get, "/"))
        #expect(reply.head.status == .created)
        #expect(reply.head.headerFields[.contentType] == "application/json")
        #expect(try await text(reply) == #"{"id":"1"}"#)
    }

    @Test("It answers by method and path, with the path's parameters")
    func routes() async throws {
        let transport = ScriptedHTTPTransport([.status(.accepted)])
        transport.on(.get, "/menus/{id}/dishes/{dish}") { match in
            .value(Menu(id: match["id"], name: match["dish"]))
        }
        let reply = try await transport.send(httpCall(.get, "/menus/a%2Fb/dishes/2?x=1"))
        #expect(try await text(reply).contains(#""id":"a/b""#))
        for (method, path) in [
            (HTTPRequest.Method.post, "/menus/1/dishes/2"), (.get, "/menus/1/dishes/"),
            (.get, "/menus/1/dishes/2/3"),
        ] {
            let other = try? await transport.send(httpCall(method, path))
            #expect(other?.head.status == (method == .post ? .accepted : nil))
        }
        #expect(transport.calls.count == 4)
    }

    @Test("It fails several times, then answers after its delay")
    func sequence() async throws {
        let clock = TestClock()
        let transport = ScriptedHTTPTransport(
            .failures(2, .connectionLost) + [.json("{}").delayed(by: .seconds(3), on: clock)]
        )
        for _ in 0..<2 {
            await #expect(throws: TransportError.self) {
                try await transport.send(httpCall(.get, "/"))
            }
        }
        _ = try await clock.run { try await transport.send(httpCall(.get, "/")) }
        #expect(clock.elapsed == .seconds(3))
    }

    @Test("It reports expected calls that were not made")
    func verification() async throws {
        let transport = ScriptedHTTPTransport([.status(.ok)])
        transport.on(.put, "/a") { _ in .status(.ok) }
        #expect(throws: UnusedScriptError.self, performing: { try transport.verify() })
        _ = try await transport.send(httpCall(.get, "/"))
        do throws(UnusedScriptError) {
            try transport.verify()
            Issue.record("The route was not used.")
        } catch {
            #expect("\(error)" == "0 answers were not asked for; no call to PUT /a")
        }
        _ = try await transport.send(httpCall(.put, "/a"))
        try transport.verify()
    }
}

@Suite("HTTP doubles", .timeLimit(.minutes(1)))
struct HTTPDoublesTests {
    @Test("A recorded transport remembers calls, including streamed bytes")
    func recorded() async throws {
        let recorded = ScriptedHTTPTransport(then: .status(.ok)).recorded()
        _ = try await recorded.send(httpCall(.post, "/a", body: "abc"))
        var call = httpCall(.put, "/b")
        call.body = HTTPBody(length: nil, isReplayable: true) { () async throws(TransportError) in
            .chunks([[1], [2, 3]])
        }
        _ = try await recorded.send(call)
        _ = try await recorded.send(httpCall(.get, "/c"))
        #expect(recorded.heads.map(\.path) == ["/a", "/b", "/c"])
        #expect(recorded.calls.map(\.body) == [Array("abc".utf8), [1, 2, 3], []])
        #expect(recorded.callCount(of: .put) == 1)
        #expect(recorded.lastCall?.head.method == .get)
        recorded.forget()
        #expect(recorded.callCount == 0)
    }

    @Test("A body whose producer fails has the error that real transports report")
    func failedProducer() async throws {
        let doubles: [any HTTPTransport] = [
            ScriptedHTTPTransport(then: .status(.ok)), SimulatedOrigin(clock: ImmediateClock()),
        ]
        for double in doubles {
            var call = httpCall(.put, "/a")
            // A retry must not take it for the loss of the connection to the server.
            call.body = HTTPBody(length: nil, isReplayable: true) {
                () async throws(TransportError) in
                .chunks([[1]], thenThrow: TransportError(.connectionLost))
            }
            let failing = call
            let error = await #expect(throws: TransportError.self) {
                try await double.send(failing)
            }
            #expect(error?.code == .bodyProducerFailed)
            #expect((error?.cause as? TransportError)?.code == .connectionLost)
        }
    }

    @Test("Faults occur in order, and other calls pass")
    func faults() async throws {
        let clock = TestClock()
        let scripted = ScriptedHTTPTransport(then: .chunks([[1, 2], [3, 4]]))
        let failing = scripted.failing(
            clock: clock,
            [
                .fail(.offline), .loseReply(), .breakBody(after: 3), nil,
                .delay(.seconds(1), then: .fail()),
            ]
        )
        @Sendable func send() async -> (TransportError.Code?, [UInt8]) {
            var bytes: [UInt8] = []
            do throws(TransportError) {
                for try await piece in try await failing.send(httpCall(.get, "/")).body {
                    bytes += piece
                }
                return (nil, bytes)
            } catch { return (error.code, bytes) }
        }
        #expect(await send() == (.offline, []))
        #expect(scripted.calls.isEmpty)
        #expect(await send() == (.connectionLost, []))
        #expect(scripted.calls.count == 1)
        #expect(await send() == (.truncatedBody, [1, 2, 3]))
        #expect(await send() == (nil, [1, 2, 3, 4]))
        let late = try await clock.run { await send().0 }
        #expect(late == .connectionRefused)
        #expect(clock.elapsed == .seconds(1))
        #expect(failing.callCount == 5)
    }

    @Test("Faults state whether the server may have processed the request")
    func processed() {
        guard case .failure(let failed) = HTTPFault.fail(.connectionLost),
            case .lostReply(let lost) = HTTPFault.loseReply()
        else { return fail("The faults are of another kind.") }
        #expect(failed.processed == .no)
        #expect(lost.processed == .maybe)
    }
}
