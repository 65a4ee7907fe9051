import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Synchronization
import Testing

@Suite("Limits of an attempt", .timeLimit(.minutes(1)))
struct AttemptLimitTests: RetrySuite {
    typealias Answer = ScriptedHTTPTransport.Answer

    let clock = TestClock()

    @Test("An attempt beyond its time limit is replaced by another, even during the body")
    func limitsAttempts() async throws {
        for slow in [Answer.stall, .stallingBody(after: [[1]])] {
            let transport = ScriptedHTTPTransport([slow], then: .chunks([[1], [2]]))
            let result = try start(transport)
            await clock.advance(by: .seconds(3), onceAsleep: 1)
            #expect(try await result.value.get().body == [1, 2])
            #expect(transport.calls.count == 2)
        }
        let result = try start(ScriptedHTTPTransport(then: .stall))
        for _ in 1...3 { await clock.advance(by: .seconds(3), onceAsleep: 1) }
        let error = try #require(await result.value.failure)
        #expect(error.code == .attemptTimeout)
        #expect(error.attempts.map(\.duration) == Array(repeating: .seconds(3), count: 3))
    }

    /// Starts a call without pauses and with a limit of three seconds per attempt.
    private func start(
        _ transport: ScriptedHTTPTransport
    ) throws -> Task<Result<NetworkResponse, TransportError>, Never> {
        let client = try client(transport) {
            $0.timeouts.attempt = .seconds(3)
            $0.retry.jitter = { 0 }
        }
        return Task { await client.response(to: GetRestaurant(id: "1")) }
    }

    @Test("A body below the minimum rate is abandoned before the idle limit is reached")
    func keepsMinimumRate() async throws {
        let clock = clock
        func drip(every pause: Duration, count: Int) -> Answer {
            Answer { _ async throws(TransportError) in
                let left = Mutex(count)
                return HTTPReply(
                    head: HTTPResponse(status: .ok),
                    body: HTTPByteStream { () async throws(TransportError) in
                        // Reading advances the clock, so that nothing depends on chance.
                        await clock.advance(by: pause)
                        if Task.isCancelled { throw TransportError(.cancelled) }
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
        let error = try #require(await client.response(to: GetRestaurant(id: "1")).failure)
        #expect(error.code == .tooSlow)
        #expect(clock.elapsed == .seconds(4))
        let enough = try self.client(transport) {
            $0.retry = .never
            $0.timeouts.minimumRate = TransferRate(bytes: 6, per: .seconds(4))
        }
        #expect(try await enough.response(to: GetRestaurant(id: "1")).get().body.count == 60)
    }

    @Test("The deadline error lists the previous attempts")
    func keepsHistory() async throws {
        let transport = ScriptedHTTPTransport([.status(.badGateway)], then: .stall)
        let observer = EventLog()
        let client = try client(transport) {
            $0.observers = [observer]
            $0.timeout = .seconds(5)
        }
        let result = Task { await client.response(to: GetRestaurant(id: "1")) }
        // While the first response is read, the sleeper of the limits is replaced, and two of them may sleep.
        try await waitUntil { !observer.pauses.isEmpty }
        await clock.advance(by: .seconds(1), onceAsleep: 2)
        try await waitUntil { transport.calls.count >= 2 }
        await clock.advance(by: .seconds(4))
        let error = try #require(await result.value.failure)
        #expect(error.code == .deadlineExceeded)
        #expect(error.attempts.map(\.outcome) == [.answered(status: 502), .failed(.cancelled)])
    }

    // MARK: Idle connections

    @Test("A stale connection costs no attempt, no pause and no retry budget")
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

    @Test("A POST is resent on a new connection only if none of its bytes were sent")
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
}
