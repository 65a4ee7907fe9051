import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Testing

@Suite("Events of a call", .timeLimit(.minutes(1)))
struct CallEventTests {
    let log = HTTPEventLog()
    let clock = TestClock()

    func client(_ answers: [ScriptedHTTPTransport.Answer]) throws -> NetworkClient {
        try makeClient(ScriptedHTTPTransport(answers)) { configuration in
            configuration.observers = [log]
            configuration.clock = clock
            configuration.makeCallID = { HTTPCallID(7) }
        }
    }

    var kinds: [String] { log.events.map { "\($0.kind)" } }

    @Test("Events cover a call from start to end, and the summary contains the sizes")
    func success() async throws {
        let client = try client([.json(#"{"id":"1","displayName":"a"}"#)])
        _ = try await client.request(GetRestaurant(id: "1"))
        #expect(
            kinds == [
                "started GET https://api.example.com/v1/restaurants/1",
                "sending GET https://api.example.com/v1/restaurants/1",
                "received 200", "received body of 28 bytes", "succeeded with 200",
            ]
        )
        let summary = try #require(log.summaries.first)
        #expect(summary.outcome == .answered(status: 200))
        #expect(summary.responseBytes == 28)
        #expect(summary.attempts.map(\.status) == [200])
        #expect(
            summary.description
                == "GET https://api.example.com/v1/restaurants/1 200 in 0.0 seconds, 28 bytes"
        )
    }

    @Test("A failure in the body is reported once")
    func failingBody() async throws {
        let client = try client([.chunks([[1, 2]], thenThrow: TransportError(.truncatedBody))])
        _ = try? await client.request(GetRestaurant(id: "1"))
        #expect(
            kinds.suffix(3) == [
                "received 200", "attempt failed: truncatedBody", "failed: truncatedBody",
            ]
        )
        #expect(log.summaries.first?.outcome == .failed(.truncatedBody))
        #expect(log.summaries.first?.attempts.first?.failure == .truncatedBody)
    }

    @Test("Dropping the rest of a stream is reported")
    func droppedBody() async throws {
        let client = try client([.chunks([[1, 2], [3]])])
        do {
            let reply = try await client.stream(GetRestaurant(id: "1"))
            for try await piece in reply.body {
                #expect(piece == [1, 2])
                break
            }
        }
        #expect(kinds.suffix(2) == ["succeeded with 200", "dropped body after 2 bytes"])
        #expect(log.summaries.first?.responseBytes == 2)
    }

    @Test("The end of a stream with an error status is reported")
    func refusedStream() async throws {
        let client = try client([.status(.notFound)])
        _ = try? await client.stream(GetRestaurant(id: "1"))
        #expect(log.summaries.first?.outcome == .answered(status: 404))
    }

    @Test("Each redirect is reported with its own request")
    func redirects() async throws {
        let client = try client([
            .redirect(to: "/other?token=abc"), .json(#"{"id":"1","displayName":"a"}"#),
        ])
        _ = try await client.request(GetRestaurant(id: "1"))
        let summary = try #require(log.summaries.first)
        #expect(summary.redirectCount == 1)
        #expect(summary.attempts.map(\.status) == [302, 200])
        #expect(summary.attempts.last?.url == "https://api.example.com/other")
        #expect(kinds.contains("redirected by 302 to https://api.example.com/other"))
    }

    @Test("The summary contains the duration of each phase")
    func phases() throws {
        let head = HTTPRequest("https://u:p@example.org/a?b=c")
        func event(_ seconds: Int, _ attempt: Int, _ kind: HTTPEvent.Kind) -> HTTPEvent {
            HTTPEvent(call: HTTPCallID(1), attempt: attempt, elapsed: .seconds(seconds), kind: kind)
        }
        let summary = try #require(
            HTTPCallSummary([
                event(0, 1, .started(head)), event(0, 1, .queued(true)),
                event(2, 1, .queued(false)), event(2, 1, .sending(head)),
                event(3, 1, .entered(.connect)),
                event(4, 1, .attemptFailed(TransportError(.connectionLost))),
                event(4, 1, .retrying(after: .seconds(3), reason: "connectionLost")),
                event(7, 2, .sending(head)),
                event(8, 2, .connected(ConnectionInfo(version: "HTTP/2"))),
                event(9, 2, .sentBody(bytes: 5)),
                event(10, 2, .received(HTTPResponse(status: .ok), nil)),
                event(15, 2, .receivedBody(bytes: 9)), event(15, 2, .succeeded(status: 200)),
            ])
        )
        #expect(summary.queueTime == .seconds(2))
        #expect(summary.retryDelay == .seconds(3))
        #expect(summary.retryCount == 1)
        #expect(summary.duration == .seconds(15))
        #expect(summary.timeToFirstByte == .seconds(10))
        #expect(summary.requestBytes == 5)
        #expect(summary.authority == "example.org")
        #expect(summary.attempts.map(\.failure) == [.connectionLost, nil])
        #expect(summary.attempts[0].phases.map(\.phase) == [.connect])
        #expect(summary.attempts[1].connectedAt == .seconds(8))
        #expect(summary.attempts[1].timeToFirstByte == .seconds(3))
        #expect(summary.attempts[1].bodyDuration == .seconds(5))
        #expect(summary.lastAttempt?.connection?.version == "HTTP/2")
        #expect(
            summary.description
                == "GET https://example.org/a 200 in 15.0 seconds, 9 bytes, 2 requests, "
                + "1 retries, HTTP/2"
        )
    }

    @Test("The last attempt is the request that led to the outcome")
    func lastAttempt() throws {
        let head = HTTPRequest("https://example.org/a")
        func summary(
            _ events: [(request: Int?, attempt: Int, kind: HTTPEvent.Kind)]
        ) throws -> HTTPCallSummary {
            let timed = events.enumerated().map { number, event in
                HTTPEvent(
                    call: HTTPCallID(1),
                    attempt: event.attempt,
                    request: event.request,
                    elapsed: .seconds(number),
                    kind: event.kind
                )
            }
            return try #require(HTTPCallSummary(timed))
        }
        let lost = TransportError(.connectionLost)
        let hedged = try summary([
            (nil, 1, .started(head)), (1, 1, .sending(head)), (nil, 1, .hedged),
            (2, 1, .sending(head)),
            (1, 1, .received(HTTPResponse(status: .ok), ConnectionInfo(version: "HTTP/2"))),
            (2, 1, .attemptFailed(TransportError(.cancelled))), (1, 1, .receivedBody(bytes: 9)),
            (nil, 1, .succeeded(status: 200)),
        ])
        #expect(hedged.timeToFirstByte == .seconds(4))
        #expect(hedged.lastAttempt?.connection?.version == "HTTP/2")
        let retried = try summary([
            (nil, 1, .started(head)), (1, 1, .sending(head)),
            (1, 1, .received(HTTPResponse(status: .serviceUnavailable), nil)),
            (nil, 1, .retrying(after: .seconds(1), reason: "503")), (2, 2, .sending(head)),
            (2, 2, .attemptFailed(lost)), (nil, 2, .failed(lost)),
        ])
        #expect(retried.lastAttempt?.failure == .connectionLost)
        #expect(retried.timeToFirstByte == nil)
        let redirected = try summary([
            (nil, 1, .started(head)), (1, 1, .sending(head)),
            (1, 1, .received(HTTPResponse(status: .found), nil)),
            (nil, 1, .redirected(to: "https://example.org/b", status: 302)),
            (2, 1, .sending(head)), (2, 1, .attemptFailed(lost)), (nil, 1, .failed(lost)),
        ])
        #expect(redirected.lastAttempt?.failure == .connectionLost)
    }

    @Test("The event log is bounded and contains no secrets")
    func ring() {
        let log = HTTPEventLog(capacity: 3)
        for number in 1...5 {
            var head = HTTPRequest("https://h/?t=s3cret")
            head.headerFields[.authorization] = "Bearer s3cret"
            log.observe(
                HTTPEvent(
                    call: HTTPCallID(UInt64(number)),
                    attempt: 1,
                    elapsed: .zero,
                    kind: .started(head)
                )
            )
        }
        #expect(log.events.map(\.call.number) == [3, 4, 5])
        #expect(log.droppedCount == 2)
        for event in log.events {
            guard case .started(let head) = event.kind else { continue }
            #expect(head.path == "/?t=redacted")
            #expect(head.headerFields[.authorization] == "<redacted>")
        }
        log.clear()
        #expect(log.events.isEmpty)
    }
}
