import Foundation
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@Suite("Pauses of a client that listens", .timeLimit(.minutes(2)))
struct WatchPauseTests {
    /// A transport whose requests all get one answer, and that notes their times.
    private final class Repeating: HTTPTransportDouble {
        private let upstream: ScriptedHTTPTransport
        private let clock: TestClock
        private let times = Mutex<[Duration]>([])

        init(_ answer: ScriptedHTTPTransport.Answer, on clock: TestClock) {
            upstream = ScriptedHTTPTransport(then: answer)
            self.clock = clock
        }

        var features: HTTPTransportFeatures { upstream.features }

        /// The times of the requests: one for each attempt to open a channel.
        var attempts: [Duration] { times.withLock { $0 } }

        func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
            let now = clock.elapsed
            times.withLock { $0.append(now) }
            return try await upstream.send(call)
        }
    }

    private static let request = ChangeRequest(followingResultOf: DocumentQuery("a"))

    /// Returns the pauses, in seconds, of a client whose attempts all get one answer.
    private static func pauses(
        _ count: Int,
        after answer: ScriptedHTTPTransport.Answer
    ) async throws -> [Double] {
        let clock = TestClock()
        let transport = Repeating(answer, on: clock)
        let feed = WatchConnectionTests.feed(over: transport, on: clock, nil)
        await expect(.unavailable) { _ = try await feed.changes(Self.request) }
        while transport.attempts.count <= count {
            // The client, and the timer for the target that nobody asks for.
            await clock.advance(by: .milliseconds(100), onceAsleep: 2)
        }
        #expect(await feed.targetCount == 1)
        let times = transport.attempts
        return zip(times.dropFirst(), times).map { ($0 - $1) / .seconds(1) }
    }

    @Test("A server that cannot be reached is asked again after pauses that grow by half")
    func grow() async throws {
        let refused = ScriptedHTTPTransport.Answer.failure(TransportError(.connectionRefused))
        for (number, pause) in try await Self.pauses(8, after: refused).enumerated() {
            let middle = pow(1.5, Double(number))
            // The clock moves in steps of a tenth of a second.
            let range = middle / 2 - 0.25...middle * 1.5 + 0.25
            #expect(range.contains(pause), "pause \(number)")
        }
    }

    @Test("A server that asks for fewer requests is asked again after half a minute or more")
    func exhausted() async throws {
        let answer = ScriptedHTTPTransport.Answer.refusal(429, "RESOURCE_EXHAUSTED")
        let pause = try #require(try await Self.pauses(1, after: answer).first)
        #expect((29.75...90.25).contains(pause))
    }

    @Test("A server for which every result has expired is asked again after pauses")
    func expired() async throws {
        let clock = TestClock()
        let transport = Repeating(.refusal(410, "OUT_OF_RANGE"), on: clock)
        let feed = WatchConnectionTests.feed(over: transport, on: clock, nil)
        await expect(.cursorExpired) { _ = try await feed.changes(Self.request) }
        for count in 1...3 {
            // As a listener does, which starts over.
            let next = Task { try await feed.changes(Self.request) }
            while transport.attempts.count == count {
                // The timer for the targets that nobody asks for sleeps all the while.
                await clock.advance(by: .milliseconds(100), onceAsleep: 1)
            }
            await expect(.cursorExpired) { _ = try await next.value }
        }
        let times = transport.attempts
        for (time, last) in zip(times.dropFirst(), times) {
            #expect(time - last >= .milliseconds(500))
        }
    }
}
