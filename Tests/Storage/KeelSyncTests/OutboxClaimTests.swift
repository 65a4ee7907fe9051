import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelSync
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Claims, pauses and the clock of an outbox", .timeLimit(.minutes(1)))
struct OutboxClaimTests {
    private let wall = Wall()
    private let store: InMemoryStorageAdapter

    init() {
        let wall = wall
        store = InMemoryStorageAdapter(now: { wall.now })
    }

    private func makeOutbox(_ adapter: some StorageAdapter) -> Outbox {
        Outbox(StorageClient(adapter), configuration: Outbox.Configuration(wall))
    }

    private func makeOutbox() -> Outbox { makeOutbox(store) }

    /// Returns an outbox that rejects a write an hour after it was enqueued.
    private func makeLimitedOutbox() -> Outbox {
        var configuration = Outbox.Configuration(wall)
        configuration.retry.totalLimit = .seconds(3_600)
        return Outbox(StorageClient(store), configuration: configuration)
    }

    /// Runs a body while another runner is in the middle of an attempt at "a".
    private func duringAttempt(_ body: () async throws -> Void) async throws {
        let gate = Gate()
        let slow = RecordingServer { _ in .waits(gate) }
        let outbox = makeOutbox()
        try await outbox.enqueue(.note("a"))
        try await outbox.enqueue(.note("b"))
        async let flushed = outbox.flush(sending: slow)
        try await waitUntil { !slow.deliveries.isEmpty }
        try await body()
        gate.open()
        #expect(try await flushed)
        #expect(slow.bodies == ["a", "b"])
    }

    /// Leaves an entry behind, like a process that is killed in the middle of an attempt.
    private func killInAttempt() async throws {
        let process = MortalStorageAdapter(store)
        let outbox = makeOutbox(process)
        try await outbox.enqueue(.note("a"))
        let server = RecordingServer { _ in
            process.kill()
            return .replyLost
        }
        _ = try? await outbox.flush(sending: server)
        #expect(server.deliveries.count == 1)
    }

    @Test(
        "Setting the clock during an attempt does not end its claim",
        arguments: [3_600, -3_600, 400 * 86_400]
    )
    func outlastsLeaps(seconds: Int64) async throws {
        try await duringAttempt {
            wall.leap(by: seconds)
            let other = RecordingServer()
            #expect(try await makeOutbox().flush(sending: other) == false)
            #expect(other.deliveries.isEmpty)
            let entry = try await makeOutbox().pending().first
            #expect(entry?.state == .sending(until: wall.now.advanced(by: .seconds(75))))
            await expectError(OutboxError.self, .sending) { try await makeOutbox().discard("a") }
        }
    }

    @Test(
        "A killed process's claim keeps its duration regardless of the clock",
        arguments: [0, 3_600, -3_600]
    )
    func endsAfterKill(seconds: Int64) async throws {
        try await killInAttempt()
        wall.leap(by: seconds)
        let server = RecordingServer()
        wall.advance(by: 74)
        #expect(try await makeOutbox().flush(sending: server) == false)
        wall.advance(by: 1)
        #expect(try await makeOutbox().flush(sending: server))
        #expect(server.bodies == ["a"])
    }

    @Test("An attempt whose process was killed counts for the number of the next one")
    func countsKilledAttempts() async throws {
        try await killInAttempt()
        wall.advance(by: 75)
        let server = RecordingServer()
        #expect(try await makeOutbox().flush(sending: server))
        // The server may still be processing the first attempt, so its refusal of the second one is not final.
        #expect(server.deliveries.map(\.attempt) == [2])
        #expect(server.deliveries.map(\.mayHaveArrived) == [true])
    }

    @Test("After a machine restart, the time of day determines the end of a claim")
    func endsAfterRestart() async throws {
        try await killInAttempt()
        wall.restart()
        let server = RecordingServer()
        #expect(try await makeOutbox().flush(sending: server) == false)
        wall.advance(by: 75)
        #expect(try await makeOutbox().flush(sending: server))
        #expect(server.bodies == ["a"])
    }

    @Test("A claim with only a time of day is judged by it")
    func judgesOlderClaims() async throws {
        try await killInAttempt()
        // The killed process's record of the machine's time remains.
        let claim = [
            FieldChange("owner", .set("older")),
            FieldChange("leaseEnd", .set(.timestamp(wall.now.advanced(by: .seconds(500))))),
        ]
        let write = DocumentWrite.update("__outbox.main__/a", claim)
        for result in try await store.commit([WriteBatch([write])]) { _ = try result.get() }
        wall.advance(by: 499)
        let server = RecordingServer()
        #expect(try await makeOutbox().flush(sending: server) == false)
        wall.advance(by: 1)
        #expect(try await makeOutbox().flush(sending: server))
    }

    @Test(
        "Setting the clock back does not lengthen a pause, even across a restart",
        arguments: [3_600, 50],
        [false, true]
    )
    func boundsPauses(seconds: Int64, restarts: Bool) async throws {
        let outbox = makeOutbox()
        try await outbox.enqueue(.note("a"))
        let server = RecordingServer { $0.attempt == 1 ? .failed(after: .seconds(60)) : .taken }
        #expect(try await outbox.flush(sending: server) == false)
        wall.leap(by: -seconds)
        if restarts { wall.restart() }
        // A lease from before the restart is measured by the changed clock: at most twice as long.
        wall.advance(by: restarts ? 120 : 60)
        #expect(try await makeOutbox().flush(sending: server))
    }

    @Test(
        "Setting the clock neither shortens nor extends the total limit of a write's attempts",
        arguments: [86_400, 0, -86_400]
    )
    func outlastsLeapsOfTheLimit(seconds: Int64) async throws {
        let outbox = makeLimitedOutbox()
        try await outbox.enqueue(.note("a"))
        wall.leap(by: seconds)
        let server = RecordingServer { _ in .failed(after: nil) }
        try await outbox.flush(sending: server)
        #expect(try await outbox.rejected().isEmpty)
        wall.advance(by: 3_600)
        try await outbox.flush(sending: server)
        #expect(server.deliveries.count == 2)
        #expect(try await outbox.rejected().map(\.id) == ["a"])
        // The limit starts again.
        try await outbox.retry("a")
        try await outbox.flush(sending: server)
        #expect(try await outbox.pending().map(\.id) == ["a"])
    }

    @Test("After a machine restart, the time of day determines the total limit")
    func limitsAfterRestart() async throws {
        try await makeLimitedOutbox().enqueue(.note("a"))
        wall.restart()
        let outbox = makeLimitedOutbox()
        let server = RecordingServer { _ in .failed(after: nil) }
        try await outbox.flush(sending: server)
        #expect(try await outbox.rejected().isEmpty)
        wall.advance(by: 3_600)
        try await outbox.flush(sending: server)
        #expect(try await outbox.rejected().map(\.id) == ["a"])
    }

    @Test("A write is not sent if claiming it took too long")
    func sendsNothingLate() async throws {
        let wall = wall
        let slow = store.failing { call in
            guard case .commit(let batches) = call,
                case .update(let changes)? = batches.first?.writes.first?.operation,
                changes.contains(where: { $0.field == "leaseEnd" && $0.action != .remove })
            else { return nil }
            wall.advance(by: 16)
            return nil
        }
        let outbox = makeOutbox(slow)
        try await outbox.enqueue(.note("a"))
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server) == false)
        #expect(server.deliveries.isEmpty)
        let entry = try await outbox.pending().first
        #expect(entry?.lastFailure == "The store took too long to record the lease.")
        #expect(entry?.attempts == 0)
        wall.advance(by: 2)
        #expect(try await makeOutbox().flush(sending: server))
    }

    @Test(
        "A write stays held if another runner has the one before it refused during the planning",
        arguments: [1, 2, 3]
    )
    func holdsKeyWhilePlanning(read: Int64) async throws {
        var configuration = Outbox.Configuration(wall)
        configuration.rejection = .holdsKey
        let outbox = Outbox(StorageClient(store), configuration: configuration)
        try await outbox.enqueue(.note("a"))
        try await outbox.enqueue(.note("b"))
        let refusing = RecordingServer { _ in .refused }
        let meddled = MeddledStorageAdapter(
            store,
            afterReads: { number in
                if number == read { try await outbox.flush(sending: refusing) }
            }
        )
        let other = Outbox(StorageClient(meddled), configuration: configuration)
        let server = RecordingServer()
        #expect(try await other.flush(sending: server) == false)
        #expect(refusing.deliveries.map(\.idempotencyKey) == ["a"])
        #expect(server.deliveries.isEmpty)
    }

    @Test(
        "A write stays behind the one before it, refused and sent again during the planning",
        arguments: [1, 2, 3]
    )
    func holdsOrderWhilePlanning(read: Int64) async throws {
        var configuration = Outbox.Configuration(wall)
        configuration.rejection = .holdsKey
        let outbox = Outbox(StorageClient(store), configuration: configuration)
        try await outbox.enqueue(.note("a"))
        try await outbox.enqueue(.note("b"))
        let meddled = MeddledStorageAdapter(
            store,
            afterReads: { number in
                if number == read {
                    try await outbox.flush(sending: RecordingServer { _ in .refused })
                }
                if number == read + 1 { try await outbox.retry("a") }
            }
        )
        let other = Outbox(StorageClient(meddled), configuration: configuration)
        let server = RecordingServer()
        // The first call may find the writes held.
        for _ in 1...2 { try await other.flush(sending: server) }
        #expect(server.bodies == ["a", "b"])
    }

    @Test("Writes of two processes keep their order after the clock was set back")
    func ordersByCommit() async throws {
        try await makeOutbox().enqueue(.note("a"))
        wall.leap(by: -3_600)
        try await makeOutbox().enqueue(.note("b"))
        // The position that another process would assign, which has not seen the time before the leap.
        let position = FieldChange("position", .set(.integer(wall.now.microseconds)))
        let batch = WriteBatch([.update(DocumentPath("__outbox.main__/b"), [position])])
        for result in try await store.commit([batch]) { _ = try result.get() }
        let server = RecordingServer()
        #expect(try await makeOutbox().flush(sending: server))
        #expect(server.bodies == ["a", "b"])
    }

    @Test("Another runner repeats an attempt that outlasts its lease, with the same key")
    func repeatsLongAttempts() async throws {
        let gate = Gate()
        let server = RecordingServer { delivery in
            delivery.write.id == "a" && delivery.attempt == 1 ? .waits(gate) : .taken
        }
        let outbox = makeOutbox()
        try await outbox.enqueue(.note("a"))
        try await outbox.enqueue(.note("b"))
        async let flushed = outbox.flush(sending: server)
        try await waitUntil { !server.deliveries.isEmpty }
        await wall.limits.waitForSleepers()
        wall.advance(by: 75)
        #expect(try await makeOutbox().flush(sending: server))
        gate.open()
        #expect(try await flushed)
        #expect(server.deliveries.map(\.idempotencyKey) == ["a", "a", "b"])
        #expect(server.bodies == ["a", "b"])
    }

    @Test(
        "The late acceptance of an earlier version does not count for an edited write",
        arguments: [false, true]
    )
    func awaitsEditedWrite(isEditedByOther: Bool) async throws {
        let gate = Gate()
        let server = RecordingServer { $0.idempotencyKey == "a" ? .waits(gate) : .refused }
        let outbox = makeOutbox()
        let receipt = try await outbox.enqueue(.note("a"))
        async let flushed = outbox.flush(sending: server)
        try await waitUntil { !server.deliveries.isEmpty }
        await wall.limits.waitForSleepers()
        // The attempt outlasts its lease, which would prevent the edit.
        wall.advance(by: 75)
        let editor = isEditedByOther ? makeOutbox() : outbox
        try await editor.edit("a") { $0.body = Array("b".utf8) }
        gate.open()
        #expect(try await flushed)
        await expectError(OutboxError.self, .rejected) { try await receipt.server() }
    }

    @Test("The system reports its boot and uptime")
    func systemUptime() throws {
        #if os(Linux) || canImport(Darwin)
        let uptime = try #require(Uptime.system)
        #expect(uptime.boot.count >= 32)
        let first = uptime.elapsed()
        #expect(first > .zero && uptime.elapsed() >= first)
        #endif
    }
}
