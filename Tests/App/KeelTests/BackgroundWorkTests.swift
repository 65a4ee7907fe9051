import Foundation
import Keel
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Background work", .timeLimit(.minutes(1)))
struct BackgroundWorkTests {
    /// The events, in order.
    private final class Diary: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func write(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private struct Failure: Error, Equatable {}

    private let diary = Diary()

    /// Adds a part that reports its start, and runs until it is canceled.
    private func add(_ name: String, to work: inout BackgroundWork) {
        work.add(name) { [diary] in
            diary.write("\(name) runs")
            await waitForCancellation()
            diary.write("\(name) ends")
        } finish: { [diary] in
            diary.write("\(name) finishes: \(!Task.isCancelled)")
        }
    }

    private func waitForRuns(_ count: Int) async throws {
        try await waitUntil { diary.all.count { $0.hasSuffix("runs") } == count }
    }

    @Test("On cancellation the parts end in reverse order, each after the previous has finished")
    func cancelled() async throws {
        var work = BackgroundWork()
        add("logs", to: &work)
        add("analytics", to: &work)
        add("outbox", to: &work)
        let run = Task { [work] in try await work.run() }
        try await waitForRuns(3)
        run.cancel()
        try await run.value
        #expect(
            diary.all.dropFirst(3) == [
                "outbox ends", "outbox finishes: true", "analytics ends",
                "analytics finishes: true", "logs ends", "logs finishes: true",
            ]
        )
        #expect(work.names == ["logs", "analytics", "outbox"])
    }

    @Test("A failing part ends the others, and its error is thrown")
    func failing() async throws {
        var work = BackgroundWork()
        add("a", to: &work)
        let gate = Gate()
        work.add("b") {
            _ = try await gate.pass()
            throw Failure()
        }
        let run = Task { [work] in try await work.run() }
        try await waitForRuns(1)
        gate.open()
        await #expect(throws: Failure.self) { try await run.value }
        #expect(diary.all == ["a runs", "a ends", "a finishes: true"])
    }

    @Test("A part that returns does not end the others, and the run returns when none is left")
    func returning() async throws {
        var work = BackgroundWork()
        add("a", to: &work)
        work.add("b", run: {}, finish: { [diary] in diary.write("b finishes") })
        let run = Task { [work] in try await work.run() }
        try await waitForRuns(1)
        run.cancel()
        try await run.value
        #expect(Set(diary.all) == ["a runs", "a ends", "a finishes: true", "b finishes"])
        var short = BackgroundWork()
        short.add("c", run: {}, finish: { [diary] in diary.write("c finishes") })
        try await short.run()
        #expect(diary.all.last == "c finishes")
        try await BackgroundWork().run()
    }

    @Test("The parts run for the duration of an operation and end with it")
    func operation() async throws {
        var work = BackgroundWork()
        add("a", to: &work)
        let value = try await work.run { [self] in
            try await waitForRuns(1)
            return 7
        }
        #expect(value == 7)
        #expect(diary.all == ["a runs", "a ends", "a finishes: true"])
        await #expect(throws: Failure.self) {
            try await work.run { () async throws -> Int in throw Failure() }
        }
    }

    @Test("A failing part cancels the operation")
    func operationIsCancelled() async throws {
        var work = BackgroundWork()
        let gate = Gate()
        work.add("a") {
            _ = try await gate.pass()
            throw Failure()
        }
        await #expect(throws: Failure.self) {
            try await work.run { [diary] in
                gate.open()
                await waitForCancellation()
                diary.write("ended")
            }
        }
        #expect(diary.all == ["ended"])
    }

    @Test("An operation that fails after its cancellation ends the run with its own error")
    func operationFailsLate() async throws {
        var work = BackgroundWork()
        add("a", to: &work)
        let run = Task { [work] in
            try await work.run { () async throws -> Int in
                await waitForCancellation()
                throw Failure()
            }
        }
        try await waitForRuns(1)
        run.cancel()
        await #expect(throws: Failure.self) { try await run.value }
        #expect(diary.all == ["a runs", "a ends", "a finishes: true"])
    }

    @Test("A part that exceeds its finish timeout is cancelled")
    func limit() async throws {
        let clock = TestClock()
        var work = BackgroundWork(clock: clock)
        let finish: @Sendable () async -> Void = { [diary] in
            await waitForCancellation()
            diary.write("given up")
        }
        work.add("a", finishTimeout: .seconds(3), run: {}, finish: finish)
        let run = Task { [work] in try await work.run() }
        await clock.advance(by: .seconds(3), onceAsleep: 1)
        try await run.value
        #expect(diary.all == ["given up"])
    }

    @Test("Work added at the end runs after the operation, with the task's values")
    func atEnd() async throws {
        var work = BackgroundWork()
        let analytics = try AnalyticsService.inMemory()
        work.add(atEnd: "caches") { [diary] in
            diary.write("\(AnalyticsService.current?.anonymousID ?? "none")")
        }
        try await withAnalytics(analytics) { [work] in
            try await work.run { [diary] in diary.write("operation") }
        }
        #expect(diary.all == ["operation", analytics.anonymousID])
    }

    @Test("Analytics, outbox, caches and transport run together and are flushed at the end")
    func areas() async throws {
        let vendor = ScriptedAnalyticsDestination()
        var settings = AnalyticsConfiguration()
        settings.defaultConsent = .granted
        settings.add(vendor)
        let keel = KeelConfiguration.test()
        let analytics = try keel.makeAnalytics(settings)
        let outbox = Outbox(try keel.makeStorage())
        let sent = Mutex<[String]>([])
        var work = BackgroundWork()
        work.add(ScriptedHTTPTransport())
        work.add(try keel.makeCaches())
        work.add(analytics)
        work.add(outbox, sending: Sender { key in sent.withLock { $0.append(key) } })
        try await work.run {
            _ = try await outbox.enqueue(OutboxWrite(key: "notes/1", kind: "save"))
            analytics.trackEvent("saved")
            try await waitUntil { sent.withLock { $0 } == ["notes/1"] }
        }
        #expect(vendor.received.map(\.kind) == [.event("saved")])
        #expect(work.names == ["transport", "caches", "analytics", "outbox"])
    }
}

private struct Sender: OutboxSender {
    let take: @Sendable (String) -> Void

    func send(_ delivery: OutboxDelivery) async -> OutboxVerdict {
        take(delivery.write.key)
        return .accepted()
    }
}
