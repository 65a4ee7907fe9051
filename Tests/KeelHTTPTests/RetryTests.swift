import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Synchronization
import Testing

@Suite("Repeated calls", .timeLimit(.minutes(1)))
struct RetryTests {
    typealias Answer = ScriptedHTTPTransport.Answer

    private let clock = TestClock()

    /// A client without a total limit, whose pauses are the longest that the policy allows.
    private func client(
        _ transport: some HTTPTransport,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        var configuration = NetworkClient.Configuration(
            baseURL: try #require(URL(string: "https://api.example.com/v1"))
        )
        configuration.clock = clock
        configuration.timeout = nil
        configuration.retry.jitter = { 1 }
        change(&configuration)
        return NetworkClient(configuration, transport: transport)
    }

    private func call(
        _ method: HTTPRequest.Method,
        _ fields: HTTPFields = [:],
        body: HTTPBody? = nil
    ) -> HTTPCall {
        HTTPCall(
            HTTPRequest(
                method: method,
                scheme: "https",
                authority: "api.example.com",
                path: "/x",
                headerFields: fields
            ),
            body: body
        )
    }

    private struct Post: ServiceEndpoint {
        var key: String?
        var isIdempotent: Bool?
        var body: RequestBody? { .bytes([1, 2, 3]) }
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/things" }
        var headers: HTTPFields { key.map { [.idempotencyKey: $0] } ?? [:] }
        var options: HTTPCallOptions {
            var options = HTTPCallOptions()
            options.isIdempotent = isIdempotent
            return options
        }
    }

    // MARK: Which outcomes

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

    @Test("A failure is repeated as its code and the method allow", arguments: failures)
    func repeatsFailures(code: TransportError.Code, get: Int, post: Int) async throws {
        for (endpoint, count) in [(GetRestaurant(id: "1") as any ServiceEndpoint & Sendable, get)]
            + [(Post(), post), (Post(key: "k"), get), (Post(isIdempotent: true), get)]
        {
            let transport = ScriptedHTTPTransport(then: .failure(TransportError(code)))
            let client = try client(transport)
            let result = await run { await client.response(to: endpoint) }
            guard case .failure(let error) = result else {
                Issue.record("The call succeeded.")
                return
            }
            #expect(transport.calls.count == count, "\(code) \(endpoint.method)")
            #expect(error.code == code)
            #expect(error.attempts.map(\.number) == Array(1...count))
            #expect(error.attempts.allSatisfy { $0.outcome == .failed(code) })
        }
    }

    @Test("A POST that provably was not acted on is repeated")
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
        "A status is repeated as RFC 9110 and the method allow",
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
            let transport = ScriptedHTTPTransport(
                then: .status(.init(code: status), body: [7])
            )
            let client = try client(transport)
            let response = try await run { await client.response(to: endpoint) }.get()
            #expect(response.status.code == status)
            #expect(response.body == [7])
            #expect(transport.calls.count == count, "\(status) \(endpoint.method)")
        }
    }

    @Test("A body that can be sent once is sent once, and the error says why")
    func sparesOneShotBodies() async throws {
        let transport = ScriptedHTTPTransport(then: .failure(TransportError(.connectionLost)))
        let client = try client(transport)
        let body = HTTPBody(length: 1, isReplayable: false) { () async throws(TransportError) in
            .chunks([[1]])
        }
        let call = call(.put, body: body)
        let error = await #expect(throws: TransportError.self) {
            _ = try await client.send(call)
        }
        #expect(error?.retryRefusal == .notReplayable)
        #expect(transport.calls.count == 1)
    }

    @Test("The last error lists the attempts and says why there were no more")
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
        #expect(error.retryRefusal == .attemptsSpent)
        let lost = ScriptedHTTPTransport(then: .failure(TransportError(.connectionLost)))
        let posting = try self.client(lost)
        let refused = try await failure { await posting.response(to: Post()) }
        #expect(refused.retryRefusal == .notIdempotent)
    }

    // MARK: Pauses

    @Test("Pauses double from 50 ms, from 1 s where the server throttles, and end at the cap")
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

    @Test("The jitter takes a part of the longest pause")
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
        "A pause that the server asks for is kept, as seconds or as a date",
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

    @Test("A pause beyond the limit ends the call at once with the response")
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

    @Test("No pause is begun that would outlast the total time")
    func keepsTheTotalTime() async throws {
        let observer = EventLog()
        let transport = ScriptedHTTPTransport(then: .status(.tooManyRequests, body: [5]))
        let client = try client(transport) {
            $0.observers = [observer]
            $0.timeout = .seconds(2)
        }
        let result = Task { await client.response(to: GetRestaurant(id: "1")) }
        await clock.waitForSleepers(2)
        await clock.advance(by: .seconds(1))
        #expect(try await result.value.get().body == [5])
        #expect(observer.pauses == [.seconds(1)])
        #expect(observer.refusals == [.noTimeLeft])
        #expect(transport.calls.count == 2)
    }

    @Test("Cancelling the caller ends the pause at once")
    func cancelsPauses() async throws {
        let transport = ScriptedHTTPTransport(
            then: .status(.tooManyRequests, headers: [.retryAfter: "50"])
        )
        let client = try client(transport)
        let result = Task { await client.response(to: GetRestaurant(id: "1")) }
        await clock.waitForSleepers()
        result.cancel()
        guard case .failure(let error) = await result.value else {
            Issue.record("The call succeeded.")
            return
        }
        #expect(error.isCancellation)
        #expect(error.attempts.map(\.outcome) == [.answered(status: 429)])
        #expect(clock.elapsed == .zero)
        #expect(transport.calls.count == 1)
    }

    // MARK: Bodies

    @Test("A body that breaks off while it is read into memory is one more reason to repeat")
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

    @Test("A stream is repeated up to its head and not after")
    func leavesStreams() async throws {
        let broken = Answer.chunks([[1]], thenThrow: TransportError(.truncatedBody))
        let transport = ScriptedHTTPTransport([.status(.badGateway), broken], then: .status(.ok))
        let client = try client(transport)
        let reply = try await clock.run { try await client.stream(GetRestaurant(id: "1")) }
        await #expect(throws: TransportError.self) { try await reply.body.collect(upTo: 10) }
        #expect(transport.calls.count == 2)
    }

    @Test("Each hop of a redirect is repeated by its own method")
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

    // MARK: Limits of an attempt

    @Test("An attempt that takes too long makes room for another, its body included")
    func limitsAttempts() async throws {
        for slow in [Answer.stall, .stallingBody(after: [[1]])] {
            let transport = ScriptedHTTPTransport([slow], then: .chunks([[1], [2]]))
            let client = try client(transport) { $0.timeouts.attempt = .seconds(3) }
            let response = try await run { await client.response(to: GetRestaurant(id: "1")) }
                .get()
            #expect(response.body == [1, 2])
            #expect(transport.calls.count == 2)
        }
        let stalling = ScriptedHTTPTransport(then: .stall)
        let client = try client(stalling) { $0.timeouts.attempt = .seconds(3) }
        let error = try await failure { await client.response(to: GetRestaurant(id: "1")) }
        #expect(error.code == .attemptTimeout)
        #expect(error.attempts.map(\.duration) == Array(repeating: .seconds(3), count: 3))
    }

    @Test("A body that drips is given up below the minimum rate, whatever the idle limit says")
    func keepsMinimumRate() async throws {
        let clock = clock
        func drip(every pause: Duration, count: Int) -> Answer {
            Answer { _ async throws(TransportError) in
                let left = Mutex(count)
                return HTTPReply(
                    head: HTTPResponse(status: .ok),
                    body: HTTPByteStream { () async throws(TransportError) in
                        guard (try? await clock.sleep(for: pause)) != nil else {
                            throw TransportError(.cancelled)
                        }
                        return left.withLock { left in
                            left -= 1
                            return left < 0 ? nil : [1, 2]
                        }
                    }
                )
            }
        }
        let transport = ScriptedHTTPTransport(then: drip(every: .seconds(1), count: 30))
        let client = try client(transport) {
            $0.retry = .never
            $0.timeouts.minimumRate = TransferRate(bytes: 10, per: .seconds(4))
        }
        let error = try await failure { await client.response(to: GetRestaurant(id: "1")) }
        #expect(error.code == .tooSlow)
        #expect(clock.elapsed == .seconds(4))
        let enough = try self.client(transport) {
            $0.retry = .never
            $0.timeouts.minimumRate = TransferRate(bytes: 6, per: .seconds(4))
        }
        #expect(
            try await run { await enough.response(to: GetRestaurant(id: "1")) }.get().body.count
                == 60
        )
    }

    @Test("The error of a passed total time knows the attempts before")
    func keepsHistory() async throws {
        let transport = ScriptedHTTPTransport([.status(.badGateway)], then: .stall)
        let client = try client(transport) { $0.timeout = .seconds(5) }
        let result = Task { await client.response(to: GetRestaurant(id: "1")) }
        await clock.waitForSleepers(2)
        await clock.advance(by: .seconds(1))
        while transport.calls.count < 2 { await Task.yield() }
        await clock.advance(by: .seconds(4))
        guard case .failure(let error) = await result.value else {
            Issue.record("The call succeeded.")
            return
        }
        #expect(error.code == .deadlineExceeded)
        #expect(error.attempts.map(\.outcome) == [.answered(status: 502), .failed(.cancelled)])
    }

    // MARK: Kept connections

    @Test("A closed kept connection costs no attempt, no pause and no budget")
    func replacesStaleConnections() async throws {
        let budget = HTTPRetryBudget(clock: clock)
        let stale = Answer.failure(TransportError(.staleConnection))
        let transport = ScriptedHTTPTransport([stale], then: .status(.ok))
        let observer = EventLog()
        let client = try client(transport) {
            $0.retry = .attempts(1)
            $0.retry.budget = .shared(budget)
            $0.observers = [observer]
        }
        #expect(try await client.response(to: GetRestaurant(id: "1")).get().status == .ok)
        #expect(transport.calls.count == 2)
        #expect(observer.attempts == [1])
        let again = ScriptedHTTPTransport(then: stale)
        let twice = try self.client(again) { $0.retry = .attempts(1) }
        _ = await twice.response(to: GetRestaurant(id: "1"))
        #expect(again.calls.count == 2)
    }

    @Test("A POST is sent again only if no byte of it had left")
    func sparesStalePosts() async throws {
        var unsent = TransportError(.staleConnection)
        unsent.bytesSent = 0
        for (error, count) in [(unsent, 2), (TransportError(.staleConnection), 1)] {
            let transport = ScriptedHTTPTransport([.failure(error)], then: .status(.ok))
            let client = try client(transport)
            _ = await client.response(to: Post())
            #expect(transport.calls.count == count)
        }
    }

    // MARK: Wishes of single calls, budgets

    @Test("A call can ask for more or fewer attempts than its client")
    func overridesPerCall() async throws {
        struct Eager: ServiceEndpoint {
            var policy: HTTPRetryPolicy
            var path: EndpointPath { "/x" }
            var options: HTTPCallOptions {
                var options = HTTPCallOptions()
                options.retry = policy
                return options
            }
        }
        for (policy, count) in [(HTTPRetryPolicy.never, 1), (.attempts(5), 5)] {
            let transport = ScriptedHTTPTransport(then: .status(.badGateway))
            let client = try client(transport)
            _ = await run { await client.response(to: Eager(policy: policy)) }
            #expect(transport.calls.count == count)
        }
    }

    @Test("A dead server gets at most a tenth more load, and the errors say why")
    func boundsLoad() async throws {
        let transport = ScriptedHTTPTransport(then: .failure(TransportError(.connectionRefused)))
        let client = try client(transport) { $0.retry.jitter = { 0 } }
        var last: TransportError?
        for _ in 1...1000 {
            guard case .failure(let error) = await client.response(to: GetRestaurant(id: "1"))
            else { continue }
            last = error
        }
        #expect(transport.calls.count == 1035)
        #expect(last?.retryRefusal == .budgetSpent)
        #expect(last?.attempts.count == 1)
    }

    @Test("Two clients share a budget, origins do not, and successes fill it again")
    func sharesBudgets() async throws {
        var limits = HTTPRetryBudget.Limits()
        limits.tokens = 28
        let budget = HTTPRetryBudget(limits, clock: clock)
        let dead = ScriptedHTTPTransport(then: .failure(TransportError(.connectionRefused)))
        let one = try client(dead) {
            $0.retry.budget = .shared(budget)
            $0.retry.jitter = { 0 }
        }
        let other = NetworkClient(one.configuration, transport: dead)
        _ = await one.response(to: GetRestaurant(id: "1"))
        #expect(dead.calls.count == 3)
        _ = await other.response(to: GetRestaurant(id: "1"))
        #expect(dead.calls.count == 4)
        var elsewhere = one.configuration
        elsewhere.baseURL = try #require(URL(string: "https://other.example.com"))
        _ = await NetworkClient(elsewhere, transport: dead).response(to: GetRestaurant(id: "1"))
        #expect(dead.calls.count == 7)
        let fine = ScriptedHTTPTransport(then: .status(.ok))
        let healthy = NetworkClient(one.configuration, transport: fine)
        for _ in 1...14 { _ = await healthy.response(to: GetRestaurant(id: "1")) }
        let origin = try #require(HTTPOrigin(call(.get).head))
        #expect(budget.tokens(for: origin) == 14)
        let flaky = ScriptedHTTPTransport([.status(.badGateway)], then: .status(.ok))
        _ = await NetworkClient(one.configuration, transport: flaky)
            .response(to: GetRestaurant(id: "1"))
        #expect(budget.tokens(for: origin) == 14)
    }

    @Test("Of many requests at most a tenth are repetitions, however full the bucket is")
    func boundsRatio() async throws {
        var limits = HTTPRetryBudget.Limits()
        limits.tokens = 1_000_000
        limits.reserve = 0
        let clock = clock
        let budget = HTTPRetryBudget(limits, clock: clock)
        let dead = ScriptedHTTPTransport(then: .failure(TransportError(.connectionRefused)))
        let client = try client(dead) {
            $0.retry.budget = .shared(budget)
            $0.retry.jitter = { 0 }
        }
        for _ in 1...1000 { _ = await client.response(to: GetRestaurant(id: "1")) }
        #expect(dead.calls.count == 1100)
        // What is long ago does not count.
        await clock.advance(by: .seconds(120))
        for _ in 1...9 { _ = await client.response(to: GetRestaurant(id: "1")) }
        #expect(dead.calls.count == 1109)
        _ = await client.response(to: GetRestaurant(id: "1"))
        #expect(dead.calls.count == 1111)
    }

    // MARK: Support

    /// Runs a call and moves the clock on whenever the call pauses.
    private func run<Value: Sendable>(
        _ call: @escaping @Sendable () async -> Value
    ) async -> Value {
        do {
            return try await clock.run { await call() }
        } catch {
            preconditionFailure("The call does not throw.")
        }
    }

    private func failure(
        _ call: @escaping @Sendable () async -> Result<NetworkResponse, TransportError>
    ) async throws -> TransportError {
        guard case .failure(let error) = await run(call) else {
            throw TransportError(.unknown, "The call succeeded.")
        }
        return error
    }
}

/// Keeps the events of calls.
final class EventLog: HTTPEventObserver {
    private let state = Mutex<[HTTPEvent]>([])

    var events: [HTTPEvent] { state.withLock { $0 } }

    var pauses: [Duration] {
        events.compactMap { event in
            guard case .retrying(let pause, _) = event.moment else { return nil }
            return pause
        }
    }

    var refusals: [RetryRefusal] {
        events.compactMap { event in
            guard case .notRetried(let refusal) = event.moment else { return nil }
            return refusal
        }
    }

    /// The numbers of the attempts that were heard of.
    var attempts: Set<Int> { Set(events.map(\.attempt)) }

    func observe(_ event: HTTPEvent) { state.withLock { $0.append(event) } }
}
