import KeelCore
import KeelStorage
import KeelSync
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Runners of an outbox", .timeLimit(.minutes(1)))
struct OutboxRunnerTests {
    private let wall = Wall()
    private let store: InMemoryStorageAdapter

    init() {
        let wall = wall
        store = InMemoryStorageAdapter(now: { wall.now })
    }

    private func makeOutbox(
        clock: any Clock<Duration> = TestClock(),
        _ change: (inout Outbox.Configuration) -> Void = { _ in }
    ) -> Outbox {
        var configuration = Outbox.Configuration(wall, clock: clock)
        change(&configuration)
        return Outbox(StorageClient(store), configuration: configuration)
    }

    /// Runs an outbox during a body.
    private func running<Value: Sendable>(
        _ outbox: Outbox,
        _ sender: some OutboxSender,
        online: AsyncStream<Bool>? = nil,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                if let online {
                    try await outbox.run(sending: sender, whileOnline: online)
                } else {
                    try await outbox.run(sending: sender)
                }
                return nil
            }
            let value = try await body()
            group.cancelAll()
            try await group.waitForAll()
            return value
        }
    }

    @Test("A receipt reports when the write is stored and waits for the server")
    func twoStages() async throws {
        let outbox = makeOutbox()
        let gate = Gate()
        let server = RecordingServer { _ in .waits(gate) }
        try await running(outbox, server) {
            let receipt = try await outbox.enqueue(.note("a"))
            #expect(receipt.stage == .local)
            gate.open()
            let reply = try await receipt.server()
            #expect(reply.body == Array("ok".utf8))
            #expect(receipt.stage == .server)
            // A later call returns the same reply.
            #expect(try await receipt.server() == reply)
        }
        #expect(server.bodies == ["a"])
    }

    @Test("A waiting receipt reports a rejection and, after a retry, the success")
    func tellsRefusals() async throws {
        let outbox = makeOutbox()
        let server = RecordingServer { $0.idempotencyKey == "a" ? .refused : .taken }
        try await running(outbox, server) {
            let receipt = try await outbox.enqueue(.note("a"))
            let error = await expectError(OutboxError.self, .rejected) {
                try await receipt.server()
            }
            #expect(error?.message.contains("It is not allowed.") == true)
            try await outbox.retry("a")
            #expect(try await receipt.server().body != nil)
        }
    }

    @Test("A receipt reports a discarded write and a canceled wait")
    func tellsDroppedAndCancelled() async throws {
        let outbox = makeOutbox()
        let receipt = try await outbox.enqueue(.note("a"))
        let waiting = Task { () async throws(OutboxError) in try await receipt.server() }
        waiting.cancel()
        await #expect(throws: OutboxError.self) { try await waiting.value }
        #expect(try await outbox.pending().count == 1)
        try await outbox.discard("a")
        await expectError(OutboxError.self, .discarded) { try await receipt.server() }
        await expectError(OutboxError.self, .notFound) {
            try await outbox.receipt(for: "before").server()
        }
    }

    @Test("Nothing is sent while offline, and sending resumes immediately when online")
    func waitsOffline() async throws {
        let clock = TestClock()
        let outbox = makeOutbox(clock: clock)
        let path = Connectivity()
        let online = path.states
        let isAway = Mutex(true)
        let server = RecordingServer { _ in isAway.withLock { $0 } ? .unreachable : .taken }
        try await running(outbox, server, online: online) {
            try await path.report(true)
            try await outbox.enqueue(.note("a"))
            try await waitUntil { try await outbox.pending().first?.lastFailure != nil }
            try await path.report(false)
            let receipt = try await outbox.enqueue(.note("b", key: "other"))
            // Wakes all sleepers: a task that sleeps afterwards has planned "b".
            await clock.advance(by: .seconds(31), onceAsleep: 1)
            await clock.waitForSleepers()
            #expect(server.deliveries.count == 1)
            isAway.withLock { $0 = false }
            // No time passes: the delay of "a" ends because the connection is back.
            try await path.report(true)
            try await receipt.server()
            try await outbox.receipt(for: "a").server()
        }
        #expect(server.bodies.sorted() == ["a", "b"])
        #expect(server.deliveries.map(\.idempotencyKey).sorted() == ["a", "a", "b"])
    }

    @Test("A write that did not reach the server is sent at once when the app asks for it")
    func retriesNow() async throws {
        let clock = TestClock()
        let outbox = makeOutbox(clock: clock)
        let isSignedIn = Mutex(false)
        let server = RecordingServer { _ in isSignedIn.withLock { $0 } ? .taken : .unreachable }
        try await running(outbox, server) {
            let receipt = try await outbox.enqueue(.note("a"))
            try await waitUntil { try await outbox.pending().first?.lastFailure != nil }
            isSignedIn.withLock { $0 = true }
            // No time passes.
            outbox.retryNow()
            try await receipt.server()
        }
        #expect(server.deliveries.count == 2)
        #expect(clock.elapsed == .zero)
    }

    /// Returns an outbox with a write that waits for a second, in a store whose reads fail on demand.
    private func makeWaiting(
        _ clock: TestClock,
        concurrency: Int = 4,
        _ fault: @escaping @Sendable () -> StorageFault?
    ) async throws -> Outbox {
        let before = makeOutbox()
        try await before.enqueue(.note("a"))
        try await before.flush(sending: RecordingServer { _ in .unreachable })
        let failing = store.failing { call in if case .read = call { fault() } else { nil } }
        var configuration = Outbox.Configuration(wall, clock: clock)
        configuration.concurrency = concurrency
        return Outbox(StorageClient(failing), configuration: configuration)
    }

    @Test("A write is sent at once when the app asks for it, even if the store fails before")
    func retriesNowAfterFailure() async throws {
        let clock = TestClock()
        let isFailing = Mutex(false)
        let outbox = try await makeWaiting(clock) {
            isFailing.withLock { isFailing -> StorageFault? in
                defer { isFailing = false }
                return isFailing ? .fail(.unavailable) : nil
            }
        }
        let server = RecordingServer()
        try await running(outbox, server) {
            await clock.waitForSleepers()
            isFailing.withLock { $0 = true }
            outbox.retryNow()
            try await waitUntil { isFailing.withLock { !$0 } }
            await clock.waitForSleepers()
            // Time passes for the pause after the failure, and not for the write.
            await clock.advance(by: .seconds(1))
            try await waitUntil { server.bodies == ["a"] }
        }
    }

    @Test("A runner pauses after each failure of the store, even if a write is due")
    func pausesWhileStoreFails() async throws {
        let clock = TestClock()
        let wall = wall
        let failures = Mutex<Int?>(nil)
        let outbox = try await makeWaiting(clock) {
            failures.withLock { failures -> StorageFault? in
                guard let count = failures else { return nil }
                failures = count + 1
                return .fail(.unavailable)
            }
        }
        let server = RecordingServer()
        try await running(outbox, server) {
            await clock.waitForSleepers()
            failures.withLock { $0 = 0 }
            wall.advance(by: 2)
            await clock.advance(by: .seconds(1))
            try await waitUntil { failures.withLock { $0 ?? 0 } > 0 }
            await clock.waitForSleepers()
            for _ in 0..<1_000 { await Task.yield() }
            #expect(failures.withLock { $0 } == 1)
            failures.withLock { $0 = nil }
            await clock.advance(by: .seconds(1))
            try await waitUntil { server.bodies == ["a"] }
        }
    }

    @Test("A write that is due when the store fails is sent before later ones")
    func sendsDueWriteAfterFailure() async throws {
        let clock = TestClock()
        let wall = wall
        let isFailing = Mutex(false)
        let outbox = try await makeWaiting(clock, concurrency: 1) {
            isFailing.withLock { isFailing -> StorageFault? in
                defer { isFailing = false }
                return isFailing ? .fail(.unavailable) : nil
            }
        }
        for name in ["b", "c", "d"] { try await outbox.enqueue(.note(name, key: name)) }
        let (first, second) = (Gate(), Gate())
        let server = RecordingServer { delivery in
            switch delivery.idempotencyKey {
            case "b": .waits(first)
            case "c": .waits(second)
            default: .taken
            }
        }
        try await running(outbox, server) {
            try await waitUntil { first.begunCount == 1 }
            // The runner and the time limit of "b".
            await clock.waitForSleepers(2)
            isFailing.withLock { $0 = true }
            wall.advance(by: 2)
            await clock.advance(by: .seconds(1))
            try await waitUntil { isFailing.withLock { !$0 } }
            await clock.waitForSleepers(2)
            first.open()
            try await waitUntil { second.begunCount == 1 }
            await clock.waitForSleepers(2)
            second.open()
            try await waitUntil { server.bodies.count == 4 }
        }
        #expect(server.bodies == ["b", "c", "a", "d"])
    }

    @Test("A pause ends on the clock")
    func wakesAfterPauses() async throws {
        let clock = TestClock()
        let wall = wall
        let outbox = makeOutbox(clock: clock) {
            $0.pollInterval = .seconds(36_000)
            // An attempt does not time out while time passes.
            $0.sendTimeout = .seconds(36_000)
        }
        let server = RecordingServer { $0.attempt == 1 ? .failed(after: .seconds(7)) : .taken }
        try await running(outbox, server) {
            let receipt = try await outbox.enqueue(.note("a"))
            try await waitUntil { try await outbox.pending().first?.lastFailure != nil }
            #expect(server.deliveries.count == 1)
            // The runner may fall asleep late, for seven seconds from then on.
            while server.deliveries.count < 2 {
                await clock.waitForSleepers()
                wall.advance(by: 1)
                await clock.advance(by: .seconds(1))
            }
            try await receipt.server()
        }
        #expect(server.deliveries.count == 2)
        #expect(clock.elapsed >= .seconds(7) && clock.elapsed < .seconds(36_000))
    }

    @Test("A flush ends although no server responds and pauses are zero")
    func flushEnds() async throws {
        let outbox = makeOutbox { $0.jitter = { 0 } }
        let server = RecordingServer { _ in .unreachable }
        try await outbox.enqueue(.note("a"))
        #expect(try await outbox.flush(sending: server) == false)
        #expect(server.deliveries.count == 1)
    }

    @Test("An outage does not lengthen the pauses after the server is reached again")
    func forgetsOutages() async throws {
        let reached = Mutex(false)
        let pauses = Mutex<[Duration]>([])
        let outbox = makeOutbox { configuration in
            configuration.retry = RetryPolicy(
                attempts: 5,
                baseDelay: .seconds(1),
                maximumDelay: .seconds(600)
            )
            configuration.jitter = { 1 }
            configuration.onEvent = { event in
                if case .postponed(_, _, let pause) = event { pauses.withLock { $0.append(pause) } }
            }
        }
        let server = RecordingServer { _ in
            reached.withLock { $0 } ? .failed(after: nil) : .unreachable
        }
        try await outbox.enqueue(.note("a"))
        for _ in 0..<5 {
            _ = try await outbox.flush(sending: server)
            wall.advance(by: 3600)
        }
        reached.withLock { $0 = true }
        _ = try await outbox.flush(sending: server)
        #expect(pauses.withLock { $0 } == [1, 2, 4, 8, 16, 1].map { .seconds($0) })
    }

    @Test("An attempt that takes too long is canceled and repeated")
    func limitsAttempts() async throws {
        let clock = TestClock()
        let outbox = makeOutbox(clock: clock)
        let server = RecordingServer { _ in .waits(Gate()) }
        try await outbox.enqueue(.note("a"))
        async let flushed = outbox.flush(sending: server)
        await clock.advance(by: .seconds(60), onceAsleep: 1)
        #expect(try await flushed == false)
        #expect(try await outbox.pending().first?.lastFailure == "The attempt timed out.")
    }

    @Test("A runner that ends releases its writes immediately")
    func givesBack() async throws {
        let outbox = makeOutbox()
        let server = RecordingServer { _ in .waits(Gate()) }
        try await outbox.enqueue(.note("a"))
        try await running(outbox, server) {
            try await waitUntil { !server.deliveries.isEmpty }
            await expectError(OutboxError.self, .sending) { try await outbox.discard("a") }
        }
        let entry = try await outbox.pending().first
        #expect(entry?.state == .pending(notBefore: nil))
        #expect(entry?.attempts == 0)
    }

    @Test("A claim keeps other runners away until it ends")
    func respectsClaims() async throws {
        let gate = Gate()
        let slow = RecordingServer { _ in .waits(gate) }
        let first = makeOutbox()
        let second = makeOutbox()
        try await first.enqueue(.note("a"))
        try await first.enqueue(.note("b"))
        try await running(first, slow) { [wall] () async throws in
            try await waitUntil { !slow.deliveries.isEmpty }
            let other = RecordingServer()
            #expect(try await second.flush(sending: other) == false)
            #expect(other.deliveries.isEmpty)
            // The first process appears dead for so long that its lease expires.
            wall.advance(by: 76)
            #expect(try await second.flush(sending: other))
            #expect(other.bodies == ["a", "b"])
            gate.open()
        }
        // The first runner finds the entries gone, and sends nothing else.
        #expect(slow.deliveries.count == 1)
    }

    @Test("Writes enqueued or sent by another process are noticed after the poll interval")
    func polls() async throws {
        let clock = TestClock()
        let mine = makeOutbox(clock: clock)
        let other = makeOutbox()
        let server = RecordingServer()
        try await running(mine, server) {
            await clock.waitForSleepers()
            try await other.enqueue(.note("a"))
            await clock.advance(by: .seconds(30))
            // Time stands still while the write is leased and sent.
            try await waitUntil { server.bodies.contains("a") }
        }
        let idle = RecordingServer()
        let path = Connectivity()
        let offline = path.states
        try await running(mine, idle, online: offline) {
            try await path.report(false)
            let receipt = try await mine.enqueue(.note("b", key: "b"))
            async let reply = receipt.server()
            try await other.flush(sending: server)
            // The runner resumes waiting callers at its next poll.
            while receipt.stage == .local, !Task.isCancelled {
                await clock.advance(by: .seconds(31))
            }
            #expect(try await reply.body == nil)
        }
        #expect(server.bodies == ["a", "b"])
    }

    @Test("A transient store failure does not end a runner, a permanent one does")
    func outlivesStoreTrouble() async throws {
        let wall = wall
        let calls = Counter()
        let flaky = store.failing { call in
            guard case .read = call else { return nil }
            return calls.next() <= 3 ? .fail(.busy) : nil
        }
        let outbox = Outbox(
            StorageClient(flaky),
            configuration: .init(wall, clock: ImmediateClock())
        )
        let server = RecordingServer()
        try await running(outbox, server) {
            try await outbox.enqueue(.note("a"))
            try await waitUntil { !server.bodies.isEmpty }
        }
        let broken = Outbox(
            StorageClient(store.failing { _ in .fail(.corrupted) }),
            configuration: .init(wall)
        )
        await expectError(OutboxError.self, .storage) { try await broken.run(sending: server) }
    }
}

/// Reports the connection state to a runner, and waits until the runner has processed it.
private final class Connectivity: Sendable {
    private struct State {
        var asked = 0
        var waiting: CheckedContinuation<Bool?, Never>?
    }

    private let state = Mutex(State())

    /// The states.
    ///
    /// A reader that asks for the next state has processed the previous one.
    var states: AsyncStream<Bool> {
        AsyncStream {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isCancelled = self.state.withLock { state in
                        if Task.isCancelled { return true }
                        state.asked += 1
                        state.waiting = continuation
                        return false
                    }
                    if isCancelled { continuation.resume(returning: nil) }
                }
            } onCancel: {
                self.take()?.resume(returning: nil)
            }
        }
    }

    func report(_ isOnline: Bool) async throws {
        try await waitUntil { state.withLock { $0.waiting } != nil }
        let waiting = take()
        let asked = state.withLock { $0.asked }
        waiting?.resume(returning: isOnline)
        try await waitUntil { state.withLock({ $0.asked }) != asked }
    }

    private func take() -> CheckedContinuation<Bool?, Never>? {
        state.withLock { $0.waiting.take() }
    }
}
