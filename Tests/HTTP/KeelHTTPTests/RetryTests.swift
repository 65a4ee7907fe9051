import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Testing

@Suite("Retries", .timeLimit(.minutes(1)))
struct RetryTests: RetrySuite {
    typealias Answer = ScriptedHTTPTransport.Answer

    let clock = TestClock()

    // MARK: Outcomes

    static let failures: [(TransportError.Code, get: Int, post: Int)] = [
        (.offline, 3, 3), (.hostNotFound, 1, 1), (.nameLookupFailed, 3, 3),
        (.connectionRefused, 3, 3), (.connectTimeout, 3, 3), (.poolTimeout, 2, 2),
        (.tlsHandshakeFailed, 2, 2), (.tlsUntrusted, 1, 1), (.tlsHostnameMismatch, 1, 1),
        (.tlsPinMismatch, 1, 1), (.proxyFailed, 2, 2), (.proxyUnauthorized, 1, 1),
        (.responseTimeout, 3, 1), (.writeTimeout, 3, 1), (.attemptTimeout, 3, 1),
        (.connectionLost, 3, 1), (.streamRefused, 3, 1), (.streamReset, 3, 1),
        (.tooSlow, 3, 1), (.truncatedBody, 3, 1), (.protocolViolation, 1, 1),
        (.decompressionFailed, 1, 1), (.responseTooLarge, 1, 1), (.circuitOpen, 1, 1),
        (.throttled, 1, 1), (.cancelled, 1, 1), (.unknown, 1, 1), (.clientShutdown, 1, 1),
        (.deadlineExceeded, 1, 1), (.credentialsUnavailable, 1, 1), (.bodyProducerFailed, 1, 1),
    ]

    @Test("A failure is retried if its code and the method allow it", arguments: failures)
    func repeatsFailures(code: TransportError.Code, get: Int, post: Int) async throws {
        for (endpoint, count) in [(GetRestaurant(id: "1") as any ServiceEndpoint & Sendable, get)]
            + [(Post(), post), (Post(key: "k"), get), (Post(isIdempotent: true), get)]
        {
            let transport = ScriptedHTTPTransport(then: .failure(TransportError(code)))
            let client = try client(transport)
            let result = await run { await client.response(to: endpoint) }
            let error = try #require(result.failure)
            #expect(transport.calls.count == count, "\(code) \(endpoint.method)")
            #expect(error.code == code)
            #expect(error.attempts.map(\.number) == Array(1...count))
            #expect(error.attempts.allSatisfy { $0.outcome == .failed(code) })
        }
    }

    @Test("A POST that was certainly not processed is retried")
    func repeatsUnprocessed() async throws {
        var unsent = TransportError(.connectionLost)
        unsent.bytesSent = 0
        for error in [unsent, TransportError(.streamRefused, processed: .no)] {
            let transport = ScriptedHTTPTransport([.failure(error)], then: .status(.created))
            let client = try client(transport)
            let response = try await run { await client.response(to: Post()) }.get()
            #expect(response.status == .created)
            #expect(transport.calls.map(\.body) == [[1, 2, 3], [1, 2, 3]])
        }
    }

    @Test(
        "A status is retried if RFC 9110 and the method allow it",
        arguments: [
            (200, 1, 1), (400, 1, 1), (401, 1, 1), (404, 1, 1), (408, 3, 1), (409, 1, 1),
            (421, 2, 2), (425, 2, 2), (429, 3, 1), (500, 3, 1), (501, 1, 1), (502, 3, 1),
            (503, 3, 1), (504, 3, 1), (505, 1, 1), (511, 1, 1),
        ]
    )
    func repeatsStatuses(status: Int, get: Int, post: Int) async throws {
        for (endpoint, count) in [(GetRestaurant(id: "1") as any ServiceEndpoint & Sendable, get)]
            + [(Post(), post), (Post(key: "k"), get)]
        {
            let transport = ScriptedHTTPTransport(then: .status(.init(code: status), body: [7]))
            let client = try client(transport)
            let response = try await run { await client.response(to: endpoint) }.get()
            #expect(response.status.code == status)
            #expect(response.body == [7])
            #expect(transport.calls.count == count, "\(status) \(endpoint.method)")
        }
    }

    @Test("A conflict with an earlier attempt of the same key is retried")
    func repeatsConflicts() async throws {
        for (post, count) in [(Post(key: "k"), 3), (Post(isIdempotent: true), 2)] {
            let transport = ScriptedHTTPTransport(
                [.failure(TransportError(.responseTimeout)), .status(.conflict)],
                then: .status(.created)
            )
            let client = try client(transport)
            let response = try await run { await client.response(to: post) }.get()
            #expect(transport.calls.count == count)
            #expect(response.status == (count == 3 ? .created : .conflict))
        }
    }

    @Test("A conflict with a request that may have arrived on a stale connection is retried")
    func repeatsConflictsWithLostRequests() async throws {
        var unsent = TransportError(.staleConnection)
        unsent.bytesSent = 0
        for (error, count) in [(TransportError(.staleConnection), 3), (unsent, 2)] {
            let transport = ScriptedHTTPTransport(
                [.failure(error), .status(.conflict)],
                then: .status(.created)
            )
            let client = try client(transport)
            let response = try await run { await client.response(to: Post(key: "k")) }.get()
            #expect(transport.calls.count == count)
            #expect(response.status == (count == 3 ? .created : .conflict))
        }
    }

    @Test("A one-shot body is sent once, and the error states the reason")
    func sparesOneShotBodies() async throws {
        let transport = ScriptedHTTPTransport(then: .failure(TransportError(.connectionLost)))
        let client = try client(transport)
        let body = HTTPBody(length: 1, isReplayable: false) { () async throws(TransportError) in
            .chunks([[1]])
        }
        let call = call(.put, body: body)
        let error = await #expect(throws: TransportError.self) { _ = try await client.send(call) }
        #expect(error?.retryRefusal == .notReplayable)
        #expect(transport.calls.count == 1)
    }

    @Test("The last error lists the attempts and states why no more followed")
    func explainsTheEnd() async throws {
        let transport = ScriptedHTTPTransport(
            [.failure(TransportError(.connectionRefused)), .status(.badGateway)],
            then: .failure(TransportError(.connectionLost))
        )
        let client = try client(transport)
        let error = try await failure { await client.response(to: GetRestaurant(id: "1")) }
        #expect(
            error.attempts.map(\.outcome) == [
                .failed(.connectionRefused), .answered(status: 502), .failed(.connectionLost),
            ]
        )
        #expect(error.retryRefusal == .attemptsExhausted)
        let lost = ScriptedHTTPTransport(then: .failure(TransportError(.connectionLost)))
        let posting = try self.client(lost)
        let refused = try await failure { await posting.response(to: Post()) }
        #expect(refused.retryRefusal == .notIdempotent)
    }

    // MARK: Pauses

    @Test("Pauses double from 50 ms, or from 1 s when throttled, up to the cap")
    func pauses() async throws {
        let rows: [(Answer, [Duration])] = [
            (.failure(TransportError(.connectionLost)), [.milliseconds(50), .milliseconds(100)]),
            (.status(.serviceUnavailable), [.milliseconds(50), .milliseconds(100)]),
            (.status(.tooManyRequests), [.seconds(1), .seconds(2)]),
            (
                .status(.serviceUnavailable, headers: [.retryAfter: "0"]),
                [.seconds(1), .seconds(2)]
            ),
        ]
        for (answer, pauses) in rows {
            let observer = EventLog()
            let client = try client(ScriptedHTTPTransport(then: answer)) {
                $0.observers = [observer]
            }
            _ = await run { await client.response(to: GetRestaurant(id: "1")) }
            #expect(observer.pauses == pauses)
        }
        let observer = EventLog()
        let failing = ScriptedHTTPTransport(then: .failure(TransportError(.connectionLost)))
        let patient = try client(failing) {
            $0.observers = [observer]
            $0.retry.attempts = 15
        }
        _ = await run { await patient.response(to: GetRestaurant(id: "1")) }
        #expect(observer.pauses.count == 14)
        #expect(observer.pauses.max() == .seconds(20))
    }

    @Test("Jitter scales the maximum pause")
    func jitters() async throws {
        let observer = EventLog()
        let failing = ScriptedHTTPTransport(then: .failure(TransportError(.connectionLost)))
        let client = try client(failing) {
            $0.observers = [observer]
            $0.retry.jitter = { 0.25 }
        }
        _ = await run { await client.response(to: GetRestaurant(id: "1")) }
        #expect(observer.pauses == [.microseconds(12500), .milliseconds(25)])
    }

    @Test(
        "A Retry-After pause is respected, as seconds or as a date",
        arguments: [
            ("7", 7), ("45", 45), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
            ("Sunday, 06-Nov-94 08:49:57 GMT", 20), ("Sun Nov  6 08:50:07 1994", 30),
            ("Sun, 06 Nov 1994 08:49:00 GMT", 1), ("soon", 1), ("", 1), ("-5", 1), ("2.5", 1),
        ]
    )
    func keepsRetryAfter(field: String, seconds: Int) async throws {
        let observer = EventLog()
        let transport = ScriptedHTTPTransport(
            [
                .status(
                    .tooManyRequests,
                    headers: [.retryAfter: field, .date: "Sun, 06 Nov 1994 08:49:37 GMT"]
                )
            ],
            then: .status(.ok)
        )
        let client = try client(transport) { $0.observers = [observer] }
        let response = try await run { await client.response(to: GetRestaurant(id: "1")) }.get()
        #expect(response.status == .ok)
        #expect(observer.pauses == [.seconds(seconds)])
    }

    @Test("A pause beyond the limit ends the call at once and returns the response")
    func refusesLongPauses() async throws {
        for field in ["61", "99999999999999999999", "Sun, 06 Nov 1994 08:51:00 GMT"] {
            let observer = EventLog()
            let transport = ScriptedHTTPTransport([
                .status(
                    .serviceUnavailable,
                    headers: [.retryAfter: field, .date: "Sun, 06 Nov 1994 08:49:37 GMT"],
                    body: [9]
                )
            ])
            let client = try client(transport) { $0.observers = [observer] }
            let response = try await client.response(to: GetRestaurant(id: "1")).get()
            #expect(response.status == .serviceUnavailable)
            #expect(response.body == [9])
            #expect(observer.refusals == [.pauseTooLong])
            #expect(clock.elapsed == .zero)
        }
    }

    @Test("No pause begins that would exceed the total time")
    func keepsTheTotalTime() async throws {
        let observer = EventLog()
        let transport = ScriptedHTTPTransport(then: .status(.tooManyRequests, body: [5]))
        let client = try client(transport) {
            $0.observers = [observer]
            $0.timeout = .seconds(2)
        }
        let result = Task { await client.response(to: GetRestaurant(id: "1")) }
        // While the first response is read, the sleeper of the limits is replaced, and two of them may sleep.
        try await waitUntil { !observer.pauses.isEmpty }
        await clock.advance(by: .seconds(1), onceAsleep: 2)
        #expect(try await result.value.get().body == [5])
        #expect(observer.pauses == [.seconds(1)])
        #expect(observer.refusals == [.noTimeLeft])
        #expect(transport.calls.count == 2)
    }

    @Test("Canceling the caller ends the pause at once")
    func cancelsPauses() async throws {
        let transport = ScriptedHTTPTransport(
            then: .status(.tooManyRequests, headers: [.retryAfter: "50"])
        )
        let client = try client(transport)
        let result = Task { await client.response(to: GetRestaurant(id: "1")) }
        await clock.waitForSleepers()
        result.cancel()
        let error = try #require(await result.value.failure)
        #expect(error.isCancellation)
        #expect(error.attempts.map(\.outcome) == [.answered(status: 429)])
        #expect(clock.elapsed == .zero)
        #expect(transport.calls.count == 1)
    }

    // MARK: Bodies

    @Test("A truncated body read into memory is retried")
    func repeatsBrokenBodies() async throws {
        let broken = Answer.chunks([[1]], thenThrow: TransportError(.truncatedBody))
        let transport = ScriptedHTTPTransport([broken, broken], then: .chunks([[1], [2]]))
        let client = try client(transport)
        let response = try await run { await client.response(to: GetRestaurant(id: "1")) }.get()
        #expect(response.body == [1, 2])
        #expect(transport.calls.count == 3)
        let posts = ScriptedHTTPTransport([broken], then: .status(.ok))
        let posting = try self.client(posts)
        let error = try await failure { await posting.response(to: Post()) }
        #expect(error.code == .truncatedBody)
        #expect(error.retryRefusal == .notIdempotent)
    }

    @Test("A stream is retried until its head arrives, not afterwards")
    func leavesStreams() async throws {
        let broken = Answer.chunks([[1]], thenThrow: TransportError(.truncatedBody))
        let transport = ScriptedHTTPTransport([.status(.badGateway), broken], then: .status(.ok))
        let client = try client(transport)
        let reply = try await clock.run { try await client.stream(GetRestaurant(id: "1")) }
        await #expect(throws: TransportError.self) { try await reply.body.collect(upTo: 10) }
        #expect(transport.calls.count == 2)
    }

    @Test("Each hop of a redirect is retried according to its own method")
    func repeatsHops() async throws {
        let transport = ScriptedHTTPTransport(
            [
                .redirect(to: "/next", status: .seeOther), .status(.badGateway),
                .status(.badGateway),
            ],
            then: .status(.ok)
        )
        let client = try client(transport) { $0.redirects = .all }
        let response = try await run { await client.response(to: Post()) }.get()
        #expect(response.status == .ok)
        #expect(transport.calls.map(\.head.method) == [.post, .get, .get, .get])
    }
}
