import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Coalesced and hedged requests", .timeLimit(.minutes(1)))
struct SharingTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    private let clock = TestClock()

    private func answer(_ gate: Gate, _ body: [[UInt8]] = [[1], [2]]) -> Answer {
        Answer { _ async throws(TransportError) in
            guard (try? await gate.pass()) != nil else { throw TransportError(.cancelled) }
            return HTTPReply(head: HTTPResponse(status: .ok), body: .chunks(body))
        }
    }

    // MARK: Coalescing

    @Test("A thousand identical calls send one request, and each gets the whole body")
    func coalesces() async throws {
        let gate = Gate()
        let log = EventLog()
        let transport = ScriptedHTTPTransport(then: answer(gate))
        let layer = CoalescingMiddleware()
        let client = try makeClient(transport) {
            $0.middleware = [layer]
            $0.observers = [log]
        }
        let calls = (1...1000).map { _ in
            Task { try await client.response(to: GetRestaurant(id: "1")).get().body }
        }
        try await waitUntil { layer.waiterCount == 1000 }
        gate.open()
        for call in calls { #expect(try await call.value == [1, 2]) }
        #expect(transport.calls.count == 1)
        let joins = log.events.count { if case .joined = $0.kind { true } else { false } }
        #expect(joins == 999)
    }

    @Test("If 999 of a thousand calls are canceled, the last one still gets its response")
    func survivesCancellation() async throws {
        let gate = Gate()
        let transport = ScriptedHTTPTransport(then: answer(gate))
        let layer = CoalescingMiddleware()
        let client = try makeClient(transport) { $0.middleware = [layer] }
        let calls = (1...1000).map { _ in
            Task { await client.response(to: GetRestaurant(id: "1")) }
        }
        try await waitUntil { layer.waiterCount == 1000 }
        for call in calls.dropLast() { call.cancel() }
        for call in calls.dropLast() {
            let error = try #require(await call.value.failure)
            #expect(error.isCancellation)
        }
        #expect(gate.cancelledCount == 0)
        gate.open()
        #expect(try await calls.last?.value.get().body == [1, 2])
        #expect(transport.calls.count == 1)
    }

    @Test("The exchange is canceled with its last caller")
    func cancelsWithTheLast() async throws {
        let gate = Gate()
        let transport = ScriptedHTTPTransport(then: answer(gate))
        let client = try makeClient(transport) { $0.middleware = [CoalescingMiddleware()] }
        let calls = (1...50).map { _ in Task { await client.response(to: GetRestaurant(id: "1")) } }
        try await waitUntil { gate.begunCount > 0 }
        for call in calls { call.cancel() }
        for call in calls { _ = await call.value }
        try await waitUntil { gate.cancelledCount == gate.begunCount }
    }

    @Test("Retries of a shared call are not multiplied, and its error reaches all callers")
    func sharesErrors() async throws {
        let gate = Gate()
        let transport = ScriptedHTTPTransport(
            then: Answer { _ async throws(TransportError) in
                let passed = try? await gate.pass()
                throw TransportError(passed == nil ? .cancelled : .connectionLost)
            }
        )
        let layer = CoalescingMiddleware()
        let client = try makeClient(transport) {
            $0.middleware = [layer]
            $0.retry = .attempts(3)
            $0.retry.jitter = { 0 }
        }
        let calls = (1...100).map { _ in
            Task { await client.response(to: GetRestaurant(id: "1")) }
        }
        try await waitUntil { layer.waiterCount == 100 }
        gate.open()
        for call in calls {
            let error = try #require(await call.value.failure)
            #expect(error.code == .connectionLost)
            #expect(error.attempts.count == 3)
        }
        #expect(transport.calls.count == 3)
    }

    private struct Custom: ServiceEndpoint {
        var method = HTTPRequest.Method.get
        var headers: HTTPFields = [:]
        var isShared = true
        var path: EndpointPath { "/x" }
        var options: HTTPCallOptions {
            var options = HTTPCallOptions()
            options.allowsCoalescing = isShared
            return options
        }
    }

    @Test("Calls with different users, ranges, methods or options are not shared")
    func separates() async throws {
        let rows: [(Custom, Custom, Int)] = [
            (Custom(), Custom(), 1), (Custom(), Custom(headers: [.authorization: "b"]), 2),
            (Custom(headers: [.authorization: "a"]), Custom(headers: [.authorization: "b"]), 2),
            (Custom(headers: [.cookie: "a"]), Custom(headers: [.cookie: "b"]), 2),
            (Custom(headers: [.range: "bytes=0-1"]), Custom(), 2),
            (Custom(headers: [.acceptLanguage: "de"]), Custom(), 2),
            (Custom(method: .head), Custom(), 2), (Custom(method: .post), Custom(method: .post), 2),
            (Custom(isShared: false), Custom(), 2),
            (Custom(headers: [.date: "a"]), Custom(headers: [.date: "b"]), 1),
        ]
        for (number, (one, other, count)) in rows.enumerated() {
            let gate = Gate()
            let transport = ScriptedHTTPTransport(then: answer(gate))
            let layer = CoalescingMiddleware()
            let client = try makeClient(transport) { $0.middleware = [layer] }
            let calls = [one, other].map { endpoint in
                Task { try await client.response(to: endpoint).get().body }
            }
            try await waitUntil {
                gate.begunCount == count && (count > 1 || layer.waiterCount == 2)
            }
            gate.open()
            for call in calls { _ = try await call.value }
            #expect(transport.calls.count == count, "row \(number)")
        }
    }

    @Test(
        "A call after a change shares no exchange that began before it",
        arguments: [HTTPRequest.Method.put, .post, .delete]
    )
    func readsChanges(_ method: HTTPRequest.Method) async throws {
        let gate = Gate()
        let transport = ScriptedHTTPTransport(
            [answer(gate, [[1]]), .status(.noContent)],
            then: answer(gate, [[2]])
        )
        let layer = CoalescingMiddleware()
        let client = try makeClient(transport) { $0.middleware = [layer] }
        let before = Task { try await client.response(to: Custom()).get().body }
        try await waitUntil { gate.begunCount == 1 }
        _ = try await client.response(to: Custom(method: method)).get()
        let after = Task { try await client.response(to: Custom()).get().body }
        try await waitUntil { layer.waiterCount == 2 }
        gate.open()
        #expect(try await before.value == [1])
        #expect(try await after.value == [2])
    }

    @Test("Streams and calls of different sessions are not shared")
    func excludesStreams() async throws {
        let gate = Gate()
        let session = Mutex("a")
        let transport = ScriptedHTTPTransport(then: answer(gate))
        let layer = CoalescingMiddleware { _ in session.withLock { $0 } }
        let client = try makeClient(transport) { $0.middleware = [layer] }
        let first = Task { try await client.response(to: GetRestaurant(id: "1")).get() }
        try await waitUntil { gate.begunCount == 1 }
        session.withLock { $0 = "b" }
        let second = Task { try await client.response(to: GetRestaurant(id: "1")).get() }
        try await waitUntil { gate.begunCount == 2 }
        let stream = Task { try await client.stream(GetRestaurant(id: "1")).head.status }
        try await waitUntil { gate.begunCount == 3 }
        gate.open()
        _ = try await (first.value, second.value)
        #expect(try await stream.value == .ok)
    }

    /// A source of tokens for the current user.
    private final class Users: TokenSource {
        private let name: Mutex<String?>

        init(_ name: String?) { self.name = Mutex(name) }

        var identity: String? { name.withLock { $0 } }

        func change(to other: String?) { name.withLock { $0 = other } }
        func token() async -> AccessToken { AccessToken(identity ?? "nobody") }
    }

    @Test("Only calls signed for the same user share a response")
    func separatesSignedUsers() async throws {
        for (first, second, count) in [("a", "a", 1), ("a", "b", 2), (nil, nil, 2)] {
            let gate = Gate()
            let users = Users(first)
            let transport = ScriptedHTTPTransport(then: answer(gate))
            let layer = CoalescingMiddleware()
            let client = try makeClient(transport) { configuration in
                configuration.middleware = [layer]
                configuration.authorize(with: users)
            }
            let one = Task { try await client.response(to: GetRestaurant(id: "1")).get() }
            try await waitUntil { gate.begunCount == 1 }
            users.change(to: second)
            let other = Task { try await client.response(to: GetRestaurant(id: "1")).get() }
            try await waitUntil {
                gate.begunCount == count && (count > 1 || layer.waiterCount == 2)
            }
            gate.open()
            _ = try await (one.value, other.value)
            #expect(transport.calls.count == count)
        }
    }

    /// An identity server that renews a token by appending a plus sign.
    private struct Renewing: IdentityServer {
        func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
            BearerCredentials(accessToken: credentials.accessToken + "+")
        }
    }

    @Test("A session's identity changes with each sign-in and survives a renewal")
    func sessionIdentity() async throws {
        let session = AuthSession(server: Renewing())
        let nobody = await session.identity
        try await session.signIn { BearerCredentials(accessToken: "a", refreshToken: "r") }
        let first = await session.identity
        try await session.refresh()
        #expect(session.current?.accessToken == "a+")
        #expect(await session.identity == first)
        try await session.signIn { BearerCredentials(accessToken: "b") }
        #expect(await Set([nobody, first, session.identity]).count == 3)
    }

    // MARK: Hedging

    /// Returns an origin whose responses take twenty times as long in one case out of a hundred.
    private func origin(_ clock: VirtualTime, seed: UInt64) -> (next: HTTPNext, count: RequestCount)
    {
        let random = Mutex(SeededRandom(seed: seed))
        let count = RequestCount()
        let next = HTTPNext { _ async throws(TransportError) in
            count.add()
            let latency = random.withLock { random in
                let usual = Duration.milliseconds(Int.random(in: 50...100, using: &random))
                return Int.random(in: 0..<100, using: &random) == 0 ? usual * 20 : usual
            }
            guard (try? await clock.sleep(for: latency)) != nil else {
                count.cancel()
                throw TransportError(.cancelled)
            }
            return HTTPReply(head: HTTPResponse(status: .ok))
        }
        return (next, count)
    }

    private final class RequestCount: Sendable {
        private let state = Mutex<(sent: Int, cancelled: Int)>((0, 0))
        var sent: Int { state.withLock { $0.sent } }
        var cancelled: Int { state.withLock { $0.cancelled } }
        func add() { state.withLock { $0.sent += 1 } }
        func cancel() { state.withLock { $0.cancelled += 1 } }
    }

    private func latencies(
        _ layer: (any HTTPMiddleware)?,
        _ next: HTTPNext,
        _ clock: VirtualTime,
        count: Int
    ) async throws -> [Duration] {
        try await clock.run {
            var latencies: [Duration] = []
            for _ in 1...count {
                let start = clock.now
                let call = HTTPCall(
                    HTTPRequest(method: .get, scheme: "https", authority: "h", path: "/")
                )
                if let layer {
                    _ = try await layer.intercept(call, next: next)
                } else {
                    _ = try await next(call)
                }
                latencies.append(start.duration(to: clock.now))
            }
            return latencies.sorted()
        }
    }

    @Test("With one slow response in a hundred, hedging cuts the 99th percentile to about a third")
    func hedges() async throws {
        let seed: UInt64 = 42
        let count = 3000
        let plainTime = VirtualTime()
        let (plain, _) = origin(plainTime, seed: seed)
        let before = try await latencies(nil, plain, plainTime, count: count)
        let time = VirtualTime()
        let (hedged, counter) = origin(time, seed: seed)
        let layer = HedgingMiddleware(clock: time)
        let after = try await latencies(layer, hedged, time, count: count)
        let rank = count * 99 / 100
        let ratio = after[rank] / before[rank]
        let load = Double(counter.sent) / Double(count)
        #expect(ratio <= 0.35, "seed \(seed): p99 \(before[rank]) became \(after[rank])")
        #expect(load <= 1.03, "seed \(seed): \(counter.sent) requests")
        #expect(counter.cancelled == counter.sent - count)
    }

    @Test("Only safe requests are hedged, and failures are left to the outer layers")
    func hedgesSafely() async throws {
        var settings = HedgingMiddleware.Settings()
        settings.minimumSamples = 1
        settings.budget = 1
        let layer = HedgingMiddleware(settings, clock: clock)
        let sent = Mutex(0)
        let clock = clock
        let slow = HTTPNext { _ async throws(TransportError) in
            sent.withLock { $0 += 1 }
            guard (try? await clock.sleep(for: .seconds(1))) != nil else {
                throw TransportError(.cancelled)
            }
            return HTTPReply(head: HTTPResponse(status: .ok))
        }
        let quick = HTTPNext.answering(.ok)
        @Sendable func call(_ method: HTTPRequest.Method) -> HTTPCall {
            HTTPCall(HTTPRequest(method: method, scheme: "https", authority: "h", path: "/"))
        }
        for _ in 1...20 { _ = try await layer.intercept(call(.get), next: quick) }
        for (method, count) in [(HTTPRequest.Method.get, 2), (.post, 1), (.put, 1)] {
            sent.withLock { $0 = 0 }
            let reply = Task { try await layer.intercept(call(method), next: slow).head }
            // Only once all requests have been sent: an answer to the first ends the second.
            await clock.advance(by: .seconds(1), onceAsleep: count)
            _ = try await reply.value
            #expect(sent.withLock { $0 } == count)
        }
        let failing = HTTPNext { _ async throws(TransportError) in
            throw TransportError(.connectionRefused)
        }
        await expectError(TransportError.self, .connectionRefused) {
            _ = try await layer.intercept(call(.get), next: failing)
        }
    }

    @Test("A conflict of two hedged requests with one idempotency key is not the answer")
    func hedgesNamedRequests() async throws {
        var settings = HedgingMiddleware.Settings()
        settings.minimumSamples = 1
        settings.budget = 1
        settings.methods = nil
        let layer = HedgingMiddleware(settings, clock: clock)
        var head = HTTPRequest(method: .post, scheme: "https", authority: "h", path: "/")
        head.headerFields[.idempotencyKey] = "k"
        let call = HTTPCall(head)
        let quick = HTTPNext.answering(.ok)
        for _ in 1...20 { _ = try await layer.intercept(call, next: quick) }
        let first = Gate()
        let sent = Counter()
        let origin = HTTPNext { _ async throws(TransportError) in
            guard sent.next() == 2 else {
                guard (try? await first.pass()) != nil else { throw TransportError(.cancelled) }
                return HTTPReply(head: HTTPResponse(status: .created))
            }
            // Only a layer that waits for the other request reads the refusal.
            let body = HTTPByteStream { () async throws(TransportError) in
                first.open()
                return nil
            }
            return HTTPReply(head: HTTPResponse(status: .conflict), body: body)
        }
        #expect(try await layer.intercept(call, next: origin).head.status == .created)
        #expect(sent.count == 2)
    }

    // MARK: Idempotency keys

    @Test("All attempts of a POST share one idempotency key; another call gets another")
    func namesCalls() async throws {
        let number = Counter()
        let transport = ScriptedHTTPTransport(
            [.failure(TransportError(.connectionLost)), .status(.badGateway)],
            then: .status(.created)
        )
        let client = try makeClient(transport) {
            $0.retry = .attempts(3)
            $0.retry.jitter = { 0 }
            $0.middleware = [IdempotencyKeyMiddleware { "key-\(number.next())" }]
        }
        for _ in 1...2 { let _: EmptyResponse = try await client.post("/x", body: ["a": 1]) }
        let _: EmptyResponse = try await client.get("/x")
        let keys = transport.calls.map { $0.head.headerFields[.idempotencyKey] }
        #expect(keys == ["key-1", "key-1", "key-1", "key-2", nil])
        #expect(IdempotencyKeyMiddleware.randomKey() != IdempotencyKeyMiddleware.randomKey())
        #expect(IdempotencyKeyMiddleware.randomKey().count == 38)
    }
}
