import KeelStorage
import KeelStorageAdapting
import KeelSync
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Outcomes of writes", .timeLimit(.minutes(1)))
struct OutboxOutcomeTests {
    private let wall = Wall()
    private let adapter: InMemoryStorageAdapter
    private let storage: StorageClient

    init() {
        let wall = wall
        adapter = InMemoryStorageAdapter(now: { wall.now })
        storage = StorageClient(adapter)
    }

    /// Returns an outbox like that of another process or a later launch, without the receipts of others.
    private func makeOutbox(clock: (any Clock<Duration>)? = nil) -> Outbox {
        Outbox(storage, configuration: Outbox.Configuration(wall, clock: clock))
    }

    private func outcome(of id: String) async -> OutboxError.Code? {
        do throws(OutboxError) {
            _ = try await makeOutbox().receipt(for: id).server()
            return nil
        } catch { return error.code }
    }

    @Test("A later launch learns whether a write was accepted, discarded or never enqueued")
    func tellsTheTruth() async throws {
        for text in ["taken", "dropped", "also dropped"] {
            try await makeOutbox().enqueue(.note(text, key: text))
        }
        try await makeOutbox().discard("dropped")
        let only = RecordingServer { $0.write.id == "taken" ? .taken : .unreachable }
        try await makeOutbox().flush(sending: only)
        try await makeOutbox().discardAll()
        #expect(await outcome(of: "taken") == nil)
        #expect(await outcome(of: "dropped") == .discarded)
        #expect(await outcome(of: "also dropped") == .discarded)
        #expect(await outcome(of: "unknown") == .notFound)
    }

    @Test("A waiting receipt reports a write that another process discarded")
    func tellsWhoWaits() async throws {
        let mine = makeOutbox(clock: ImmediateClock())
        let receipt = try await mine.enqueue(.note("a"))
        let server = RecordingServer { _ in .unreachable }
        let running = Task { try await mine.run(sending: server) }
        let waiting = Task { try await receipt.server() }
        try await waitUntil { !server.deliveries.isEmpty }
        while true {
            do throws(OutboxError) {
                try await makeOutbox().discard("a")
                break
            } catch {
                guard error.code == .sending else { throw error }
            }
        }
        await expectError(OutboxError.self, .discarded) { try await waiting.value }
        #expect(receipt.stage == .local)
        running.cancel()
        try await running.value
    }

    @Test("A receipt that finds the acceptance in the store first has the server's reply, too")
    func keepsReply() async throws {
        let slow = SlowCommits(upstream: adapter) { $0.operation == .delete }
        let outbox = Outbox(StorageClient(slow), configuration: Outbox.Configuration(wall))
        let receipt = try await outbox.enqueue(.note("a"))
        async let flushed = outbox.flush(sending: RecordingServer())
        try await slow.hasCommitted.pass()
        #expect(try await receipt.server().body == Array("ok".utf8))
        slow.mayReturn.open()
        #expect(try await flushed)
    }

    @Test("A write that is sent again is awaited, even if its rejection reaches the receipt late")
    func ignoresFormerRejection() async throws {
        let slow = SlowCommits(upstream: adapter) { write in
            guard case .update(let changes) = write.operation else { return false }
            return changes.contains { $0.field == "isRefused" && $0.action == .set(true) }
        }
        let outbox = Outbox(StorageClient(slow), configuration: Outbox.Configuration(wall))
        let receipt = try await outbox.enqueue(.note("a"))
        let gate = Gate()
        let server = RecordingServer { $0.idempotencyKey == "a" ? .refused : .waits(gate) }
        async let flushed = outbox.flush(sending: server)
        try await slow.hasCommitted.pass()
        await expectError(OutboxError.self, .rejected) { try await receipt.server() }
        try await outbox.retry("a")
        slow.mayReturn.open()
        try await waitUntil { server.deliveries.count == 2 }
        // A canceled wait ends at once, with the outcome if there is one.
        let waiting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await receipt.server()
        }
        await expectError(OutboxError.self, .cancelled) { try await waiting.value }
        gate.open()
        #expect(try await receipt.server().body == Array("ok".utf8))
        #expect(try await flushed)
    }

    @Test(
        "The receipt of a rejected write waits for the server if another process sends it again",
        arguments: [true, false]
    )
    func awaitsResending(byOther: Bool) async throws {
        let (mine, other) = (makeOutbox(), makeOutbox())
        let receipt = try await mine.enqueue(.note("a"))
        try await mine.flush(sending: RecordingServer { _ in .refused })
        await expectError(OutboxError.self, .rejected) { try await receipt.server() }
        try await other.retry("a")
        if byOther {
            #expect(try await other.flush(sending: RecordingServer()))
            try await receipt.server()
        } else {
            async let reply = receipt.server()
            #expect(try await mine.flush(sending: RecordingServer()))
            #expect(try await reply.body == Array("ok".utf8))
        }
        #expect(receipt.stage == .server)
    }

    @Test("A receipt does not report a rejection that it read before the write was sent again")
    func ignoresOutdatedRejection() async throws {
        try await makeOutbox().enqueue(.note("a"))
        try await makeOutbox().flush(sending: RecordingServer { _ in .refused })
        let (hasRead, mayReturn) = (Gate(), Gate())
        let slow = MeddledStorageAdapter(
            adapter,
            afterReads: { number in
                guard number == 1 else { return }
                hasRead.open()
                _ = try? await mayReturn.pass()
            }
        )
        let outbox = Outbox(StorageClient(slow), configuration: Outbox.Configuration(wall))
        let receipt = outbox.receipt(for: "a")
        let waiting = Task { try await receipt.server() }
        try await hasRead.pass()
        try await outbox.retry("a")
        // The canceled read returns what it has read, and a canceled wait ends with the outcome if there is one.
        waiting.cancel()
        await expectError(OutboxError.self, .cancelled) { try await waiting.value }
        #expect(try await outbox.flush(sending: RecordingServer()))
        #expect(try await receipt.server().body == Array("ok".utf8))
    }

    @Test("A discarded write can be enqueued again, and its receipt waits for the server")
    func putsInAgain() async throws {
        let outbox = makeOutbox()
        let receipt = outbox.receipt(for: "a")
        await #expect(throws: OutboxError.self) { try await receipt.server() }
        try await outbox.enqueue(.note("a"))
        try await outbox.discard("a")
        try await outbox.enqueue(.note("a"))
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server))
        #expect(server.bodies == ["a"])
        try await receipt.server()
        #expect(receipt.stage == .server)
        #expect(await outcome(of: "a") == nil)
    }

    @Test("A write that the server has accepted is not sent again if it is enqueued again")
    func sendsOnce() async throws {
        try await makeOutbox().enqueue(.note("a"))
        let server = RecordingServer()
        #expect(try await makeOutbox().flush(sending: server))
        // A call whose effect was unknown is repeated, perhaps by a later launch.
        let outbox = makeOutbox()
        let receipt = try await outbox.enqueue(.note("a"))
        #expect(try await outbox.flush(sending: server))
        #expect(server.deliveries.count == 1)
        try await receipt.server()
        await expectError(StorageError.self, .alreadyExists) {
            try await outbox.enqueue(.note("a")) { try $0.set("notes/a", ["n": 1]) }
        }
        #expect(try await storage.findDocument("notes/a") == nil)
    }

    @Test("A discarded write can be enqueued again with a change of the app's documents")
    func putsInAgainWithChange() async throws {
        let outbox = makeOutbox()
        try await outbox.enqueue(.note("a"))
        try await outbox.discard("a")
        try await outbox.enqueue(.note("a")) { try $0.set("notes/a", ["n": 1]) }
        #expect(try await outbox.pending().map(\.id) == ["a"])
        #expect(try await storage.findDocument("notes/a") != nil)
        // The app's own condition does not hold.
        await expectError(StorageError.self, .alreadyExists) {
            try await outbox.enqueue(.note("b")) { try $0.create("notes/a", ["n": 2]) }
        }
        #expect(try await outbox.pending().map(\.id) == ["a"])
    }

    @Test("Outcomes of writes are removed after a week")
    func forgets() async throws {
        try await makeOutbox().enqueue(.note("a"))
        try await makeOutbox().flush(sending: RecordingServer())
        wall.advance(by: 6 * 86_400)
        try await makeOutbox().flush(sending: RecordingServer())
        #expect(await outcome(of: "a") == nil)
        wall.advance(by: 2 * 86_400)
        try await makeOutbox().flush(sending: RecordingServer())
        #expect(await outcome(of: "a") == .notFound)
    }

    @Test("Outcomes of writes outlast a clock that is set ahead, and not the time itself")
    func outlastsLeaps() async throws {
        let outbox = makeOutbox()
        // More than one page of outcomes.
        for id in 0...500 { try await outbox.enqueue(.note("\(id)", key: "notes/\(id)")) }
        try await makeOutbox().flush(sending: RecordingServer())
        wall.leap(by: 365 * 86_400)
        try await makeOutbox().flush(sending: RecordingServer())
        for id in ["0", "250", "500"] { #expect(await outcome(of: id) == nil) }
        wall.advance(by: 8 * 86_400)
        try await makeOutbox().flush(sending: RecordingServer())
        for id in ["0", "250", "500"] { #expect(await outcome(of: id) == .notFound) }
        // After a restart, only the clock is left.
        try await makeOutbox().enqueue(.note("b"))
        try await makeOutbox().flush(sending: RecordingServer())
        wall.restart()
        wall.leap(by: 365 * 86_400)
        try await makeOutbox().flush(sending: RecordingServer())
        #expect(await outcome(of: "b") == .notFound)
    }

    @Test("The outcome of a write that is enqueued again while old outcomes are removed is kept")
    func keepsNewOutcome() async throws {
        try await makeOutbox().enqueue(.note("a"))
        try await makeOutbox().discard("a")
        wall.advance(by: 8 * 86_400)
        let (other, server) = (makeOutbox(), RecordingServer())
        // The first commit is the one that removes the outcome of the discarded write.
        let meddled = MeddledStorageAdapter(
            adapter,
            beforeCommits: { number in
                guard number == 1 else { return }
                try await other.enqueue(.note("a"))
                try await other.flush(sending: server)
            }
        )
        let outbox = Outbox(StorageClient(meddled), configuration: Outbox.Configuration(wall))
        #expect(try await outbox.flush(sending: server))
        #expect(await outcome(of: "a") == nil)
        // The server has accepted it, so it is not sent again.
        try await makeOutbox().enqueue(.note("a"))
        #expect(try await makeOutbox().flush(sending: server))
        #expect(server.deliveries.count == 1)
    }

    @Test("Setting the clock back does not extend a claim beyond the claim duration")
    func outlivesClaims() async throws {
        try await makeOutbox().enqueue(.note("a"))
        // The state left by a process that is killed in an attempt, an hour before the clock is set back, on a machine
        // that does not identify its starts.
        let path = DocumentPath("__outbox.main__/a")
        let end = wall.now.advanced(by: .seconds(3_675))
        let claim = [
            FieldChange("owner", .set("gone")), FieldChange("leaseEnd", .set(.timestamp(end))),
        ]
        for result in try await adapter.commit([WriteBatch([.update(path, claim)])]) {
            _ = try result.get()
        }
        let outbox = makeOutbox()
        let server = RecordingServer()
        let running = Task { try await outbox.run(sending: server) }
        // Each further write makes the runner check the lease again.
        for (pause, text) in [(0, "b"), (74, "c")] {
            wall.advance(by: Int64(pause))
            try await outbox.enqueue(.note(text, key: text)).server()
        }
        #expect(server.bodies == ["b", "c"])
        wall.advance(by: 2)
        try await outbox.enqueue(.note("d", key: "d")).server()
        try await waitUntil { server.bodies.contains("a") }
        #expect(wall.now < end)
        running.cancel()
        try await running.value
        #expect(server.bodies.sorted() == ["a", "b", "c", "d"])
    }
}

/// Holds the commits of some writes after their effect.
private struct SlowCommits: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    let isHeld: @Sendable (DocumentWrite) -> Bool
    /// Opened once such a commit has taken effect.
    let hasCommitted = Gate()
    /// The commit returns once this is open.
    let mayReturn = Gate()

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        let results = try await upstream.commit(batches)
        if batches.contains(where: { $0.writes.contains(where: isHeld) }) {
            hasCommitted.open()
            _ = try? await mayReturn.pass()
        }
        return results
    }
}
