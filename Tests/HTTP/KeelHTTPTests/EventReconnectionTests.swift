import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Reconnecting event streams")
struct EventReconnectionTests {
    private struct Watch: ServiceEndpoint {
        var method: HTTPRequest.Method = .get
        var path: EndpointPath { "/orders" }
    }

    private typealias Answer = ScriptedHTTPTransport.Answer

    private func events(_ text: String..., thenThrow error: TransportError? = nil) -> Answer {
        .chunks(
            text.map { Array($0.utf8) },
            headers: [.contentType: "text/event-stream; charset=utf-8"],
            thenThrow: error
        )
    }

    /// Reads a stream to its end on a clock that jumps from pause to pause.
    private func read(
        _ transport: ScriptedHTTPTransport,
        method: HTTPRequest.Method = .get,
        _ change: (inout EventStreamPolicy) -> Void = { _ in }
    ) async throws -> (updates: [String], error: NetworkError?) {
        let clock = TestClock()
        let client = try makeClient(transport) { configuration in
            configuration.clock = clock
            // A clock that jumps to the next sleeper would jump past the call itself.
            configuration.timeout = nil
        }
        var policy = EventStreamPolicy()
        policy.jitter = { 1 }
        change(&policy)
        let stream = client.eventStream(Watch(method: method), policy: policy)
        let log = Mutex<[String]>([])
        let error = try await clock.run { () async throws -> NetworkError? in
            do throws(NetworkError) {
                for try await update in stream.updates {
                    log.withLock { $0.append(Self.text(update)) }
                }
                return nil
            } catch { return error }
        }
        return (log.withLock { $0 }, error)
    }

    private static func text(_ update: EventStreamUpdate) -> String {
        switch update {
        case .connecting(let attempt): "connecting \(attempt)"
        case .open: "open"
        case .event(let event): "event \(event.data)"
        case .waiting(let pause, let error): "waiting \(pause) \(error?.code.name ?? "closed")"
        }
    }

    @Test("After a lost connection, the stream resumes from the last identifier until status 204")
    func goesOn() async throws {
        let transport = ScriptedHTTPTransport([
            events("id: 1\ndata: a\n\nid: 2\nda", thenThrow: TransportError(.connectionLost)),
            events("data: b\n\n"), .status(.noContent),
        ])
        let (updates, error) = try await read(transport)
        #expect(error == nil)
        #expect(
            updates == [
                "connecting 1", "open", "event a", "waiting 1.0 seconds connectionLost",
                "connecting 2", "open", "event b", "waiting 2.0 seconds closed", "connecting 3",
            ]
        )
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        #expect(transport.calls.map { $0.head.headerFields[name] } == [nil, "1", "1"])
        #expect(
            transport.calls.allSatisfy {
                $0.head.headerFields[.accept] == "text/event-stream"
                    && $0.head.headerFields[.cacheControl] == "no-store"
            }
        )
    }

    @Test("Reading without updates returns only the events")
    func readsEvents() async throws {
        let transport = ScriptedHTTPTransport([events("data: a\n\n"), .status(.noContent)])
        let clock = TestClock()
        let client = try makeClient(transport) { configuration in
            configuration.clock = clock
            // A clock that jumps to the next sleeper would jump past the call itself.
            configuration.timeout = nil
        }
        let data = try await clock.run {
            var data: [String] = []
            for try await event in client.eventStream(Watch()) { data.append(event.data) }
            return data
        }
        #expect(data == ["a"])
    }

    @Test("The server's delay is the minimum pause, up to a limit, and persists")
    func obeysDelay() async throws {
        let transport = ScriptedHTTPTransport([
            events("retry: 5000\n\n"), events(), events("retry: 99999999\n\n"), .status(.noContent),
        ])
        let (updates, _) = try await read(transport)
        #expect(
            updates.filter { $0.hasPrefix("waiting") } == [
                "waiting 6.0 seconds closed", "waiting 7.0 seconds closed",
                "waiting 304.0 seconds closed",
            ]
        )
    }

    @Test("Jitter applies only to the back-off")
    func jitters() async throws {
        let transport = ScriptedHTTPTransport([events("retry: 5000\n\n"), .status(.noContent)])
        let (updates, _) = try await read(transport) { $0.jitter = { 0.5 } }
        #expect(updates.contains("waiting 5.5 seconds closed"))
    }

    @Test(
        "Transient statuses are retried; others throw an error",
        arguments: [
            (500, true), (502, true), (503, true), (504, true), (429, true), (408, true),
            (401, false), (403, false), (404, false), (501, false), (206, false), (201, false),
        ]
    )
    func judgesStatus(status: Int, isTriedAgain: Bool) async throws {
        let transport = ScriptedHTTPTransport([
            .status(.init(code: status), headers: [.contentType: "text/event-stream"]),
            .status(.noContent),
        ])
        let (updates, error) = try await read(transport)
        #expect((error == nil) == isTriedAgain)
        #expect(transport.calls.count == (isTriedAgain ? 2 : 1))
        #expect(updates.count == (isTriedAgain ? 3 : 1))
    }

    @Test(
        "Only the content type text/event-stream is accepted",
        arguments: [
            ("text/event-stream", true), ("Text/Event-Stream;charset=utf-8", true),
            ("text/event-stream ; x", true), ("text/plain", false), ("text/event-streams", false),
            ("", false),
        ]
    )
    func judgesType(type: String, isAccepted: Bool) async throws {
        let transport = ScriptedHTTPTransport([
            .status(.ok, headers: type.isEmpty ? [:] : [.contentType: type]), .status(.noContent),
        ])
        let (_, error) = try await read(transport)
        #expect(error?.code == (isAccepted ? nil : .invalidResponse))
    }

    @Test(
        "A Retry-After pause is respected, in seconds and as a date",
        arguments: ["7", "Sun, 06 Nov 1994 08:49:44 GMT"]
    )
    func obeysRetryAfter(_ pause: String) async throws {
        let sent = "Sun, 06 Nov 1994 08:49:37 GMT"
        let transport = ScriptedHTTPTransport([
            .status(.serviceUnavailable, headers: [.retryAfter: pause, .date: sent]),
            .status(.noContent),
        ])
        let (updates, _) = try await read(transport)
        #expect(updates.contains("waiting 8.0 seconds unavailable"))
    }

    @Test("The stream throws the last error after too many consecutive failures")
    func givesUp() async throws {
        let transport = ScriptedHTTPTransport(then: .failure(TransportError(.connectionRefused)))
        let (updates, error) = try await read(transport) { $0.retry.attempts = 3 }
        #expect(error?.code == .noConnection)
        #expect(transport.calls.count == 3)
        #expect(updates.filter { $0.hasPrefix("waiting") }.count == 2)
    }

    @Test("A permanent failure ends the stream at once")
    func endsOnLastingFailure() async throws {
        let transport = ScriptedHTTPTransport(then: .failure(TransportError(.tlsUntrusted)))
        let (_, error) = try await read(transport)
        #expect(error?.code == .transport)
        #expect(transport.calls.count == 1)
    }

    @Test("A connection that stays open long enough resets the failure count")
    func resets() async throws {
        let clock = TestClock()
        let healthy = Answer { _ async throws(TransportError) in
            let body = HTTPByteStream { () async throws(TransportError) in
                do { try await clock.sleep(for: .seconds(30)) } catch {
                    throw TransportError(.cancelled)
                }
                return nil
            }
            return HTTPReply(
                head: HTTPResponse(status: .ok, headerFields: [.contentType: "text/event-stream"]),
                body: body
            )
        }
        let refused = Answer.failure(TransportError(.connectionRefused))
        let transport = ScriptedHTTPTransport(
            [refused, refused, healthy, refused],
            then: .status(.noContent)
        )
        let client = try makeClient(transport) { configuration in
            configuration.clock = clock
            // A clock that jumps to the next sleeper would jump past the call itself.
            configuration.timeout = nil
        }
        var policy = EventStreamPolicy()
        policy.jitter = { 1 }
        let stream = client.eventStream(Watch(), policy: policy)
        let pauses = try await clock.run {
            var pauses: [Duration] = []
            for try await update in stream.updates {
                if case .waiting(let pause, _) = update { pauses.append(pause) }
            }
            return pauses
        }
        #expect(pauses == [.seconds(1), .seconds(2), .seconds(1), .seconds(2)])
    }

    @Test("A POST is sent once, unless the policy allows more")
    func sendsPostOnce() async throws {
        let once = ScriptedHTTPTransport([events("data: a\n\n")], then: .status(.noContent))
        let (updates, error) = try await read(once, method: .post)
        #expect(updates == ["connecting 1", "open", "event a"])
        #expect(error == nil)
        let broken = ScriptedHTTPTransport([
            events("data: a\n\n", thenThrow: TransportError(.connectionLost))
        ])
        #expect(try await read(broken, method: .post).error?.code == .connectionLost)
        let again = ScriptedHTTPTransport([events("data: a\n\n")], then: .status(.noContent))
        _ = try await read(again, method: .post) { $0.resendsUnsafeRequests = true }
        #expect(again.calls.count == 2)
    }

    @Test("A line beyond the limit ends the stream without reconnecting")
    func boundsMemory() async throws {
        let transport = ScriptedHTTPTransport(then: events("data: 12345678\n\n"))
        let (_, error) = try await read(transport) {
            $0.limits = ServerSentEventLimits(maximumLineLength: 8)
        }
        #expect(error?.transportError?.code == .lineTooLong)
        #expect(transport.calls.count == 1)
    }

    @Test("Canceling the reading task ends a pause and a wait for bytes")
    func endsWithItsTask() async throws {
        let clock = TestClock()
        let waiting = try makeClient(ScriptedHTTPTransport(then: .status(.badGateway))) {
            configuration in
            configuration.clock = clock
            configuration.timeout = nil
        }
        let (stalls, stalled) = AsyncStream.makeStream(of: Void.self)
        let stalling = try makeClient(
            ScriptedHTTPTransport(
                then: .stallingBody(
                    after: [],
                    headers: [.contentType: "text/event-stream"],
                    onStall: { stalled.yield() }
                )
            )
        )
        let first = Task { for try await _ in waiting.eventStream(Watch()) {} }
        await clock.waitForSleepers()
        first.cancel()
        await expectError(NetworkError.self, .cancelled) { try await first.value }
        let second = Task { for try await _ in stalling.eventStream(Watch()) {} }
        for await _ in stalls { break }
        second.cancel()
        await expectError(NetworkError.self, .cancelled) { try await second.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("Bytes are requested on demand: a slow reader slows the server down")
    func isDrivenByItsReader() async throws {
        let asked = Mutex(0)
        let transport = ScriptedHTTPTransport(
            then: .init { _ async throws(TransportError) in
                HTTPReply(
                    head: HTTPResponse(
                        status: .ok,
                        headerFields: [.contentType: "text/event-stream"]
                    ),
                    body: HTTPByteStream { () async throws(TransportError) in
                        asked.withLock { $0 += 1 }
                        return Array("data: a\n\ndata: b\n\n".utf8)[...]
                    }
                )
            }
        )
        var events = try makeClient(transport).eventStream(Watch()).makeAsyncIterator()
        #expect(transport.calls.isEmpty)
        for count in 1...6 {
            _ = try await events.next()
            #expect(asked.withLock { $0 } == (count + 1) / 2)
        }
    }

    @Test("Reading resumes where an earlier run of the app stopped")
    func startsFromIdentifier() async throws {
        let transport = ScriptedHTTPTransport([events("id: 9\n\n"), .status(.noContent)])
        _ = try await read(transport) { $0.lastEventID = "5" }
        let name = try #require(HTTPField.Name("Last-Event-ID"))
        #expect(transport.calls.map { $0.head.headerFields[name] } == ["5", "9"])
    }
}
