import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// A clock that a test sets, also back.
private final class SettableClock: Clock {
    private let time = Mutex(Duration.zero)

    var now: TestInstant { TestInstant(offset: time.withLock { $0 }) }
    var minimumResolution: Duration { .zero }

    func set(_ offset: Duration) { time.withLock { $0 = offset } }

    func sleep(until deadline: TestInstant, tolerance: Duration?) async throws {}
}

@Suite("Limits of a client", .timeLimit(.minutes(1)))
struct LimitTests {
    private let clock = TestClock()

    private func call(_ host: String = "api.example.com") -> HTTPCall {
        HTTPCall(HTTPRequest(method: .get, scheme: "https", authority: host, path: "/"))
    }

    /// A transport whose exchanges wait until they are released, in the order of their arrival.
    private final class Turnstile: Sendable {
        private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])
        private let arrivals = Mutex<[String]>([])

        var waitingCount: Int { waiting.withLock { $0.count } }
        var order: [String] { arrivals.withLock { $0 } }

        func letOneGo() { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }?.resume() }

        var next: HTTPNext {
            HTTPNext { call async throws(TransportError) in
                self.arrivals.withLock { $0.append(call.head.path ?? "") }
                await withCheckedContinuation { continuation in
                    self.waiting.withLock { $0.append(continuation) }
                }
                return HTTPReply(head: HTTPResponse(status: .ok), body: .chunks([[1]]))
            }
        }
    }

    // MARK: Circuit

    @Test("A circuit opens after failures, admits one probe and closes after its success")
    func circuit() async throws {
        let isDown = Mutex(true)
        let count = Mutex(0)
        let layer = CircuitBreakerMiddleware(clock: clock)
        let next = HTTPNext { _ async throws(TransportError) in
            count.withLock { $0 += 1 }
            if isDown.withLock({ $0 }) { throw TransportError(.connectionRefused) }
            return HTTPReply(head: HTTPResponse(status: .ok))
        }
        for _ in 1...10 {
            await expectError(TransportError.self, .connectionRefused) {
                _ = try await layer.intercept(call(), next: next)
            }
        }
        let refused = await expectError(TransportError.self, .circuitOpen) {
            _ = try await layer.intercept(call(), next: next)
        }
        #expect(refused?.processed == .no)
        #expect((refused?.cause as? TransportError)?.code == .connectionRefused)
        #expect(count.withLock { $0 } == 10)
        isDown.withLock { $0 = false }
        _ = try await layer.intercept(call("other.example.com"), next: next)
        isDown.withLock { $0 = true }
        await clock.advance(by: .seconds(5))
        await expectError(TransportError.self, .connectionRefused) {
            _ = try await layer.intercept(call(), next: next)
        }
        await clock.advance(by: .seconds(9))
        isDown.withLock { $0 = false }
        await expectError(TransportError.self, .circuitOpen) {
            _ = try await layer.intercept(call(), next: next)
        }
        await clock.advance(by: .seconds(1))
        for _ in 1...3 { _ = try await layer.intercept(call(), next: next) }
        #expect(count.withLock { $0 } == 15)
    }

    @Test("Other calls are rejected during a probe; a canceled probe admits the next")
    func probesAlone() async throws {
        let layer = CircuitBreakerMiddleware(clock: clock)
        let failing = HTTPNext.answering(.badGateway)
        for _ in 1...10 { _ = try await layer.intercept(call(), next: failing) }
        await clock.advance(by: .seconds(5))
        let turnstile = Turnstile()
        let first = Task { try await layer.intercept(call(), next: turnstile.next).head.status }
        try await waitUntil { turnstile.waitingCount == 1 }
        let second = await expectError(TransportError.self, .circuitOpen) {
            _ = try await layer.intercept(call(), next: turnstile.next)
        }
        #expect((second?.cause as? NetworkError)?.status == .badGateway)
        turnstile.letOneGo()
        #expect(try await first.value == .ok)
        for _ in 1...10 { _ = try await layer.intercept(call(), next: failing) }
        await clock.advance(by: .seconds(5))
        let cancelled = HTTPNext { _ async throws(TransportError) in
            throw TransportError(.cancelled)
        }
        _ = try? await layer.intercept(call(), next: cancelled)
        let good = HTTPNext.answering(.ok)
        _ = try await layer.intercept(call(), next: good)
    }

    @Test("A probe without an outcome, such as a long upload, does not keep the circuit open")
    func probesAgain() async throws {
        let layer = CircuitBreakerMiddleware(clock: clock)
        let failing = HTTPNext.answering(.badGateway)
        for _ in 1...10 { _ = try await layer.intercept(call(), next: failing) }
        await clock.advance(by: .seconds(5))
        let turnstile = Turnstile()
        let upload = Task { try await layer.intercept(call(), next: turnstile.next).head.status }
        try await waitUntil { turnstile.waitingCount == 1 }
        await clock.advance(by: .seconds(5))
        let good = HTTPNext.answering(.ok)
        for _ in 1...2 { _ = try await layer.intercept(call(), next: good) }
        turnstile.letOneGo()
        #expect(try await upload.value == .ok)
    }

    @Test("A probe that succeeds closes the circuit, even if another one has failed meanwhile")
    func probesTwice() async throws {
        let layer = CircuitBreakerMiddleware(clock: clock)
        let failing = HTTPNext.answering(.badGateway)
        for _ in 1...10 { _ = try await layer.intercept(call(), next: failing) }
        await clock.advance(by: .seconds(5))
        let (stuck, quick) = (Turnstile(), Turnstile())
        let lost = HTTPNext { call async throws(TransportError) in
            _ = try await stuck.next(call)
            throw TransportError(.connectionLost)
        }
        let first = Task { try await layer.intercept(call(), next: lost).head.status }
        try await waitUntil { stuck.waitingCount == 1 }
        await clock.advance(by: .seconds(5))
        let second = Task { try await layer.intercept(call(), next: quick.next).head.status }
        try await waitUntil { quick.waitingCount == 1 }
        stuck.letOneGo()
        await expectError(TransportError.self, .connectionLost) { _ = try await first.value }
        quick.letOneGo()
        #expect(try await second.value == .ok)
        _ = try await layer.intercept(call(), next: .answering(.ok))
    }

    @Test("A failure that is counted late, with a time before the window, erases no others")
    func countsLateFailures() async throws {
        let clock = SettableClock()
        let layer = CircuitBreakerMiddleware(clock: clock)
        let failing = HTTPNext.answering(.badGateway)
        clock.set(.milliseconds(10_001))
        for _ in 1...5 { _ = try await layer.intercept(call(), next: failing) }
        clock.set(.milliseconds(9_999))
        _ = try await layer.intercept(call(), next: failing)
        clock.set(.milliseconds(10_002))
        for _ in 1...4 { _ = try await layer.intercept(call(), next: failing) }
        await expectError(TransportError.self, .circuitOpen) {
            _ = try await layer.intercept(call(), next: failing)
        }
    }

    @Test("A call rejected by an open circuit is not retried, and the error says so")
    func doesNotRepeat() async throws {
        let transport = ScriptedHTTPTransport(then: .failure(TransportError(.connectionRefused)))
        let client = try makeClient(transport) {
            $0.clock = clock
            $0.timeout = nil
            $0.retry = .attempts(5)
            $0.retry.jitter = { 0 }
            $0.attemptMiddleware = [CircuitBreakerMiddleware(clock: clock)]
        }
        for _ in 1...2 { _ = await client.response(to: GetRestaurant(id: "1")) }
        let error = try #require(await client.response(to: GetRestaurant(id: "1")).failure)
        #expect(error.code == .circuitOpen)
        #expect(error.retryRefusal == .circuitOpen)
        #expect(transport.calls.count == 10)
    }

    // MARK: Concurrency

    @Test("The concurrency limit holds, and waiting calls proceed in order")
    func boundsConcurrency() async throws {
        let layer = ConcurrencyLimitMiddleware(2)
        let turnstile = Turnstile()
        let log = EventLog()
        // All on one thread: a call that reports its queueing is in the queue before any other gets a turn.
        try await VirtualTime().run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    var call = self.call()
                    call.head.path = "/\(number)"
                    call.recorder = HTTPEventRecorder([log], clock: self.clock)
                    group.addTask { [call] in
                        let reply = try await layer.intercept(call, next: turnstile.next)
                        _ = try await reply.body.collect(upTo: 10)
                    }
                    // One after the other, so that the order is defined.
                    try await waitUntil { turnstile.order.count + log.events.count >= number + 1 }
                }
                for done in 1...6 {
                    try await waitUntil { turnstile.waitingCount > 0 }
                    #expect(turnstile.waitingCount <= 2)
                    turnstile.letOneGo()
                    try await waitUntil { turnstile.order.count >= min(6, done + 2) }
                }
                try await group.waitForAll()
            }
        }
        #expect(turnstile.order == (0..<6).map { "/\($0)" })
    }

    @Test("A slot is held until the body is read or dropped")
    func holdsPlaces() async throws {
        let layer = ConcurrencyLimitMiddleware(1, queue: 0)
        let next = HTTPNext { _ async throws(TransportError) in
            HTTPReply(head: HTTPResponse(status: .ok), body: .chunks([[1], [2]]))
        }
        var reply: HTTPReply? = try await layer.intercept(call(), next: next)
        await expectError(TransportError.self, .throttled) {
            _ = try await layer.intercept(call(), next: next)
        }
        _ = try await layer.intercept(call("other.example.com"), next: next)
        #expect(reply?.head.status == .ok)
        reply = nil
        let second = try await layer.intercept(call(), next: next)
        _ = try await second.body.collect(upTo: 10)
        _ = try await layer.intercept(call(), next: next)
        let failing = HTTPNext { _ async throws(TransportError) in
            throw TransportError(.connectionLost)
        }
        for _ in 1...2 { _ = try? await layer.intercept(call(), next: failing) }
        _ = try await layer.intercept(call(), next: next)
    }

    @Test("A call canceled in the queue leaves it without blocking the next one")
    func leavesQueue() async throws {
        let layer = ConcurrencyLimitMiddleware(1)
        let turnstile = Turnstile()
        let log = EventLog()
        let tasks = (0..<3).map { _ in
            var call = call()
            call.recorder = HTTPEventRecorder([log], clock: clock)
            return Task { [call] in
                try await layer.intercept(call, next: turnstile.next).head.status
            }
        }
        try await waitUntil { log.events.count == 2 && turnstile.waitingCount == 1 }
        for task in tasks { task.cancel() }
        turnstile.letOneGo()
        var codes: [TransportError.Code?] = []
        for task in tasks {
            switch await task.result {
            case .success: codes.append(nil)
            case .failure(let error): codes.append((error as? TransportError)?.code)
            }
        }
        #expect(codes.filter { $0 == .cancelled }.count == 2)
        let after = Task { try await layer.intercept(call(), next: turnstile.next).head.status }
        try await waitUntil { turnstile.waitingCount == 1 }
        turnstile.letOneGo()
        #expect(try await after.value == .ok)
    }

    // MARK: Rate

    @Test("Requests beyond the rate wait, or are rejected if the wait is too long")
    func boundsRate() async throws {
        let layer = RateLimitMiddleware(
            10,
            per: .seconds(1),
            burst: 2,
            maximumWait: .milliseconds(250),
            clock: clock
        )
        let sent = Mutex<[Duration]>([])
        let clock = clock
        let next = HTTPNext { _ async throws(TransportError) in
            sent.withLock { $0.append(clock.elapsed) }
            return HTTPReply(head: HTTPResponse(status: .ok))
        }
        let results = try await clock.run {
            var results: [TransportError.Code?] = []
            for _ in 1...3 {
                _ = try await layer.intercept(call(), next: next)
                results.append(nil)
            }
            return results
        }
        #expect(results.count == 3)
        #expect(sent.withLock { $0 } == [.zero, .zero, .milliseconds(100)])
        let refused = Mutex(0)
        var tasks: [Task<HTTPResponse, any Error>] = []
        for _ in 1...5 {
            tasks.append(
                Task { @Sendable in
                    do {
                        return try await layer.intercept(call(), next: next).head
                    } catch {
                        refused.withLock { $0 += 1 }
                        throw error
                    }
                }
            )
        }
        // Before any time passes: a later call would find a turn that is near enough.
        try await waitUntil { refused.withLock { $0 } >= 3 }
        await clock.advance(by: .milliseconds(100), onceAsleep: 2)
        // The call whose turn it is reads the time before it continues.
        try await waitUntil { sent.withLock { $0.count } >= 4 }
        await clock.advance(by: .milliseconds(100))
        var codes: [TransportError.Code] = []
        for task in tasks {
            if case .failure(let error) = await task.result, let error = error as? TransportError {
                codes.append(error.code)
            }
        }
        #expect(codes == [.throttled, .throttled, .throttled])
        #expect(sent.withLock { $0.suffix(2) } == [.milliseconds(200), .milliseconds(300)])
    }

    @Test("Calls that are canceled while they wait leave their turns to later ones")
    func returnsTurns() async throws {
        let layer = RateLimitMiddleware(1, per: .seconds(1), maximumWait: .seconds(3), clock: clock)
        let next = HTTPNext.answering(.ok)
        _ = try await layer.intercept(call(), next: next)
        var tasks: [Task<HTTPResponse, any Error>] = []
        for _ in 1...3 {
            tasks.append(Task { @Sendable in try await layer.intercept(call(), next: next).head })
        }
        await clock.waitForSleepers(3)
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        let head = try await clock.run { try await layer.intercept(call(), next: next).head }
        #expect(head.status == .ok)
        #expect(clock.elapsed == .seconds(1))
    }

    @Test("A call whose deadline is shorter than the wait is rejected at once")
    func respectsDeadlines() async throws {
        let layer = RateLimitMiddleware(1, per: .seconds(5), clock: clock)
        let transport = ScriptedHTTPTransport(then: .status(.ok))
        let client = try makeClient(transport) {
            $0.clock = clock
            $0.timeout = .seconds(1)
            $0.attemptMiddleware = [layer]
        }
        _ = try await client.response(to: GetRestaurant(id: "1")).get()
        let error = try #require(await client.response(to: GetRestaurant(id: "1")).failure)
        #expect(error.code == .throttled)
        #expect(clock.elapsed == .zero)
    }
}
