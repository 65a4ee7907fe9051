import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelSync
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Outbox", .timeLimit(.minutes(10)))
struct OutboxTests {
    private let wall = Wall()
    private let storage: StorageClient

    init() {
        let wall = wall
        storage = StorageClient(InMemoryStorageAdapter(now: { wall.now }))
    }

    private func makeOutbox(_ change: (inout Outbox.Configuration) -> Void = { _ in }) -> Outbox {
        var configuration = Outbox.Configuration(wall)
        change(&configuration)
        return Outbox(storage, configuration: configuration)
    }

    // MARK: Enqueuing

    @Test("A later outbox sends the enqueued writes under the same key")
    func outlivesTheProcess() async throws {
        let write = OutboxWrite(
            key: "notes/1",
            kind: "PUT",
            attributes: ["path": "/notes/1"],
            body: [0, 255, 7]
        )
        try await makeOutbox().enqueue(write)
        let server = RecordingServer()
        #expect(try await makeOutbox().flush(sending: server))
        #expect(server.applied.map(\.write) == [write])
        #expect(server.applied.map(\.idempotencyKey) == [write.id])
        #expect(try await makeOutbox().pending().isEmpty)
    }

    @Test("The writes of a user can be read and dropped without those of other users")
    func separatesUsers() async throws {
        let outbox = makeOutbox()
        let owners: [(String, String?)] = [("a", "ann"), ("b", "ben"), ("c", nil), ("d", "ann")]
        for (id, owner) in owners {
            let write = OutboxWrite(key: "notes/\(id)", kind: "PUT", owner: owner, id: id)
            try await outbox.enqueue(write)
        }
        try await outbox.edit("a") { $0.body = [1] }
        // A later outbox finds the owners in the store.
        #expect(try await makeOutbox().pending(of: "ann").map(\.id) == ["d", "a"])
        #expect(try await outbox.pending(of: "ann").map(\.write.owner) == ["ann", "ann"])
        #expect(try await outbox.pending(of: nil).map(\.id) == ["c"])
        try await outbox.discardAll(of: "ann")
        #expect(try await outbox.pending().map(\.id) == ["b", "c"])
        await expectError(OutboxError.self, .discarded) {
            try await outbox.receipt(for: "a").server()
        }
        // A user takes over a write that belonged to nobody.
        try await outbox.edit("c") { $0.owner = "ben" }
        try await outbox.discardAll(of: nil)
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server))
        #expect(server.applied.map(\.write.owner) == ["ben", "ben"])
        for owner in ["ann", "ben"] {
            let write = OutboxWrite(key: owner, kind: "PUT", owner: owner, id: "refused \(owner)")
            try await outbox.enqueue(write)
        }
        try await outbox.flush(sending: RecordingServer { _ in .refused })
        #expect(try await outbox.rejected(of: "ann").map(\.id) == ["refused ann"])
        #expect(try await outbox.rejected(of: nil).isEmpty)
    }

    @Test("A write that is enqueued twice is sent once")
    func recognisesRepetitions() async throws {
        let outbox = makeOutbox()
        try await outbox.enqueue(.note("a"))
        try await outbox.enqueue(.note("a"))
        #expect(try await outbox.pending().count == 1)
    }

    @Test("A write and the app's documents are committed together or not at all")
    func commitsTogether() async throws {
        let outbox = makeOutbox()
        try await outbox.enqueue(.note("a")) { batch in try batch.set("notes/1", ["text": "a"]) }
        #expect(try await storage.findDocument("notes/1") != nil)
        await #expect(throws: StorageError.self) {
            try await outbox.enqueue(.note("b")) { batch in
                try batch.create("notes/1", ["text": "b"])
            }
        }
        #expect(try await outbox.pending().map(\.id) == ["a"])
        try await storage.transaction { transaction in
            let note = try await transaction.getDocument("notes/1")
            try transaction.set("notes/2", try note.fields())
            try transaction.write { batch in
                do throws(OutboxError) {
                    try outbox.enqueue(.note("c"), in: &batch)
                } catch { throw StorageError(.unknown, "\(error)") }
            }
        }
        #expect(try await outbox.pending().map(\.id) == ["a", "c"])
    }

    @Test("Writes of one batch keep their order")
    func keepsTheOrderOfABatch() async throws {
        let outbox = makeOutbox()
        let texts = ["z", "a", "m", "b"]
        try await storage.commit { batch in
            for text in texts { try outbox.enqueue(.note(text), in: &batch) }
        }
        let server = RecordingServer()
        try await outbox.flush(sending: server)
        #expect(server.bodies == texts)
    }

    @Test("The outbox's collection is neither writable for the app nor listed")
    func isReserved() async throws {
        let outbox = makeOutbox()
        try await outbox.enqueue(.note("a")) { batch in try batch.set("notes/1", [:]) }
        #expect(try await storage.collections() == ["notes"])
        await #expect(throws: StorageError.self) {
            try await storage.deleteDocument("__outbox.main__/a")
        }
        #expect(try await outbox.pending().count == 1)
    }

    @Test("A write that cannot be stored is rejected", arguments: ["", "a/b", "__a__/"])
    func refusesBadIDs(id: String) async {
        await expectError(OutboxError.self, .storage) {
            try await makeOutbox().enqueue(OutboxWrite(key: "k", kind: "PUT", id: id))
        }
    }

    @Test("Outboxes of different names do not mix")
    func separatesNames() async throws {
        let other = Outbox(storage, name: "other", configuration: .init(wall))
        try await other.enqueue(.note("a"))
        #expect(try await makeOutbox().pending().isEmpty)
        #expect(try await other.pending().count == 1)
    }

    // MARK: Order

    @Test("Writes of one key arrive in order without delaying other keys")
    func keepsOrder() async throws {
        let outbox = makeOutbox { $0.concurrency = 3 }
        for number in 0..<30 {
            try await outbox.enqueue(.note("\(number)", key: "key \(number % 5)"))
        }
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server))
        for key in 0..<5 {
            let numbers = server.applied.filter { $0.write.key == "key \(key)" }
                .compactMap { Int(String(decoding: $0.write.body, as: UTF8.self)) }
            #expect(numbers == Array(stride(from: key, to: 30, by: 5)))
        }
        #expect(server.overlaps == 0)
        #expect((2...3).contains(server.mostAtOnce))
    }

    @Test("A failing key with many writes does not delay other keys")
    func looksPastBlockedKeys() async throws {
        let outbox = makeOutbox()
        try await storage.commit { batch in
            for number in 0..<450 {
                try outbox.enqueue(.note("\(number)", key: "blocked"), in: &batch)
            }
        }
        try await outbox.enqueue(.note("free", key: "free"))
        let server = RecordingServer { $0.write.key == "blocked" ? .failed(after: nil) : .taken }
        #expect(try await outbox.flush(sending: server) == false)
        #expect(server.bodies == ["free"])
        #expect(server.deliveries.count == 2)
    }

    @Test("A rejected write lets later ones of its key pass or holds them, as configured")
    func rejectionPolicies() async throws {
        for policy in [Outbox.Rejection.continuesKey, .holdsKey] {
            let name = "\(policy)"
            var configuration = Outbox.Configuration(wall)
            configuration.rejection = policy
            let outbox = Outbox(storage, name: name, configuration: configuration)
            for text in ["bad", "good"] { try await outbox.enqueue(.note(text)) }
            let server = RecordingServer { $0.write.id == "bad" ? .refused : .taken }
            try await outbox.flush(sending: server)
            #expect(server.bodies == (policy == .continuesKey ? ["good"] : []))
            try await outbox.discard("bad")
            try await outbox.flush(sending: server)
            #expect(server.bodies == ["good"])
        }
    }

    // MARK: Delays

    @Test("A failed write is retried after growing pauses, at least the requested one")
    func pauses() async throws {
        let outbox = makeOutbox()
        try await outbox.enqueue(.note("a"))
        let server = RecordingServer { delivery in
            switch delivery.attempt {
            case 1, 2: .failed(after: nil)
            case 3: .failed(after: .seconds(90))
            default: .taken
            }
        }
        try await outbox.flush(sending: server)
        for (pause, count) in [(0, 1), (1, 2), (1, 2), (1, 3), (89, 3), (1, 4)] {
            wall.advance(by: Int64(pause))
            try await outbox.flush(sending: server)
            #expect(server.deliveries.count == count, "after \(pause) s")
        }
        #expect(Set(server.deliveries.map(\.idempotencyKey)) == ["a"])
        #expect(server.deliveries.map(\.attempt) == [1, 2, 3, 4])
    }

    @Test(
        "A server cannot ask for a delay of more than an hour",
        arguments: [86_400, .max / 4] as [Int64]
    )
    func boundsRequestedDelays(seconds: Int64) async throws {
        let outbox = makeOutbox()
        try await outbox.enqueue(.note("a"))
        let server = RecordingServer { delivery in
            delivery.attempt == 1 ? .failed(after: .seconds(seconds)) : .taken
        }
        try await outbox.flush(sending: server)
        wall.advance(by: 3_599)
        #expect(try await outbox.flush(sending: server) == false)
        #expect(server.deliveries.count == 1)
        wall.advance(by: 1)
        #expect(try await outbox.flush(sending: server))
        #expect(server.bodies == ["a"])
    }

    @Test("Too many failures reject a write, not counting those that did not reach the server")
    func givesUp() async throws {
        // With a stopped clock, no attempt times out.
        let outbox = makeOutbox {
            $0.retry.attempts = 3
            $0.clock = TestClock()
        }
        try await outbox.enqueue(.note("a"))
        let away = RecordingServer { _ in .unreachable }
        for _ in 0..<10 {
            try await outbox.flush(sending: away)
            wall.advance(by: 400)
        }
        #expect(away.deliveries.count == 10)
        #expect(try await outbox.rejected().isEmpty)
        let broken = RecordingServer { _ in .failed(after: nil) }
        for _ in 0..<10 {
            try await outbox.flush(sending: broken)
            wall.advance(by: 400)
        }
        #expect(broken.deliveries.count == 3)
        let rejected = try await outbox.rejected()
        #expect(rejected.map(\.attempts) == [3])
        #expect(rejected.first?.lastFailure == "It is overloaded.")
        // The server may have applied the write, so the key stays the same.
        try await outbox.retry("a")
        let server = RecordingServer()
        try await outbox.flush(sending: server)
        #expect(server.applied.map(\.idempotencyKey) == ["a"])
        #expect(away.deliveries.allSatisfy { !$0.mayHaveArrived })
        #expect(broken.deliveries.map(\.mayHaveArrived) == [false, true, true])
        #expect(server.deliveries.map(\.mayHaveArrived) == [true])
    }

    @Test("Large writes are read a few at a time, and sent in order")
    func largeWrites() async throws {
        let witness = SizeWitness(InMemoryStorageAdapter(now: { wall.now }))
        let outbox = Outbox(StorageClient(witness), configuration: .init(wall))
        let ids = (10..<30).map { "\($0)" }
        for id in ids {
            let body = [UInt8](repeating: 7, count: 900_000)
            try await outbox.enqueue(OutboxWrite(key: "films", kind: "PUT", body: body, id: id))
        }
        // Whether another key has writes is known without reading these.
        #expect(try await !outbox.protects("notes"))
        #expect(witness.largest == 0)
        #expect(try await outbox.protects("films"))
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server))
        #expect(server.applied.map(\.write.id) == ids)
        #expect(witness.largest > 900_000)
        #expect(witness.largest < 6_000_000)
    }

    @Test("A flush sends writes beyond a plan whose key became idle during the next plan")
    func idleDuringPlan() async throws {
        let planned = Gate()
        let server = RecordingServer { $0.write.key == "films" ? .waits(planned) : .taken }
        let witness = SizeWitness(InMemoryStorageAdapter(now: { wall.now })) {
            // The second plan, made after “notes” was sent and while “films” is being sent, waits until “films” is idle.
            guard server.applied.first?.write.key == "notes" else { return }
            planned.open()
            await #expect(throws: Never.self) { try await waitUntil { server.applied.count >= 12 } }
            // No event shows that the runner has recorded the last reply. A longer delay cannot fail the test.
            try? await Task.sleep(for: .milliseconds(50))
        }
        let outbox = Outbox(StorageClient(witness), configuration: .init(wall))
        try await outbox.enqueue(.note("n", key: "notes"))
        let body = [UInt8](repeating: 7, count: 900_000)
        for id in 10..<30 {
            let write = OutboxWrite(key: "films", kind: "PUT", body: body, id: "\(id)")
            try await outbox.enqueue(write)
        }
        #expect(try await outbox.flush(sending: server))
        #expect(server.applied.count == 21)
    }

    // MARK: Decisions

    @Test("A rejected write can be resent or edited under a new key, or discarded")
    func decisions() async throws {
        let outbox = makeOutbox()
        for text in ["again", "edited", "dropped"] {
            try await outbox.enqueue(.note(text, key: text))
        }
        try await outbox.flush(sending: RecordingServer { _ in .refused })
        #expect(try await outbox.rejected().map(\.id) == ["again", "edited", "dropped"])
        #expect(try await outbox.unsentKeys() == ["again", "edited", "dropped"])
        try await outbox.retry("again")
        try await outbox.edit("edited") { $0.body = Array("better".utf8) }
        try await outbox.discard("dropped")
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server))
        #expect(server.bodies.sorted() == ["again", "better"])
        #expect(server.applied.map(\.idempotencyKey).sorted() == ["again.1", "edited.1"])
        // The server does not know the new keys.
        #expect(server.applied.allSatisfy { !$0.mayHaveArrived })
        await expectError(OutboxError.self, .notFound) { try await outbox.retry("dropped") }
        #expect(try await outbox.rejected().isEmpty)
    }

    @Test("A write that holds its key is sent again before the writes that it holds")
    func sendsBeforeHeldWrites() async throws {
        let outbox = makeOutbox { $0.rejection = .holdsKey }
        for text in ["create", "change", "publish"] { try await outbox.enqueue(.note(text)) }
        try await outbox.flush(sending: RecordingServer { _ in .refused })
        #expect(try await outbox.rejected().map(\.id) == ["create"])
        try await outbox.retry("create")
        let server = RecordingServer { $0.write.id == "change" ? .refused : .taken }
        try await outbox.flush(sending: server)
        #expect(server.bodies == ["create"])
        try await outbox.edit("change") { $0.body = Array("better".utf8) }
        // A pending write keeps its place, too.
        try await outbox.edit("change") { $0.body = Array("best".utf8) }
        let healed = RecordingServer()
        #expect(try await outbox.flush(sending: healed))
        #expect(healed.bodies == ["best", "publish"])
    }

    @Test("All writes can be discarded")
    func dropsAll() async throws {
        let recorded = InMemoryStorageAdapter(now: { wall.now }).recorded()
        let outbox = Outbox(StorageClient(recorded), configuration: .init(wall))
        for number in 0..<450 { try await outbox.enqueue(.note("\(number)", key: "\(number)")) }
        var (reads, commits) = (recorded.callCount(of: .read), recorded.callCount(of: .commit))
        #expect(try await outbox.unsentKeys().count == 450)
        // A page of up to 500 entries, and nothing else.
        #expect(recorded.callCount(of: .read) - reads == 1)
        (reads, commits) = (recorded.callCount(of: .read), recorded.callCount(of: .commit))
        try await outbox.discardAll()
        #expect(try await outbox.pending().isEmpty)
        #expect(recorded.callCount(of: .commit) - commits == 3)
    }

    @Test("Writes with canonically equivalent ids are different writes")
    func distinguishesIDs() async throws {
        let outbox = makeOutbox()
        let composed = OutboxWrite(key: "1", kind: "PUT", id: "caf\u{e9}")
        let decomposed = OutboxWrite(key: "2", kind: "PUT", id: "cafe\u{301}")
        let one = try await outbox.enqueue(composed)
        let other = try await outbox.enqueue(decomposed)
        #expect(one !== other)
        #expect(try await outbox.pending().count == 2)
        try await outbox.discardAll()
        #expect(try await outbox.pending().isEmpty)
    }

    @Test("Discarding all writes leaves out those that another caller removes meanwhile")
    func dropsTheRest() async throws {
        let memory = InMemoryStorageAdapter(now: { wall.now })
        let other = Outbox(StorageClient(memory), configuration: .init(wall))
        let overtaken = MeddledStorageAdapter(
            memory,
            beforeCommits: { _ in try? await other.discard("b") }
        )
        let outbox = Outbox(StorageClient(overtaken), configuration: .init(wall))
        for text in ["a", "b", "c"] { try await other.enqueue(.note(text)) }
        try await outbox.discardAll()
        #expect(try await other.pending().isEmpty)
    }

    @Test("Updates show the current entries of the outbox")
    func updates() async throws {
        let outbox = makeOutbox()
        var updates = outbox.updates().makeAsyncIterator()
        #expect(try await updates.next()?.isEmpty == true)
        try await outbox.enqueue(.note("a"))
        #expect(try await updates.next()?.map(\.state) == [.pending(notBefore: nil)])
        try await outbox.flush(sending: RecordingServer { _ in .refused })
        var last: [OutboxEntry] = []
        repeat {
            last = try await updates.next() ?? []
        } while last.first?.state != .rejected
    }

    @Test("An outbox makes no query that the store lacks an index for")
    func declaresItsQueries() async throws {
        let scans = Mutex(0)
        var settings = StorageClient.Configuration()
        settings.isStrict = true
        settings.onFullScan = { _, _ in scans.withLock { $0 += 1 } }
        let adapter = InMemoryStorageAdapter(now: { wall.now })
        let outbox = Outbox(
            StorageClient(adapter, configuration: settings),
            configuration: .init(wall)
        )
        for text in ["b", "a"] { try await outbox.enqueue(.note(text, key: text)) }
        var updates = outbox.updates().makeAsyncIterator()
        #expect(try await updates.next()?.map(\.id) == ["b", "a"])
        #expect(try await outbox.protects("a"))
        #expect(try await outbox.unsentKeys() == ["a", "b"])
        #expect(try await outbox.flush(sending: RecordingServer()))
        #expect(scans.withLock { $0 } == 0)
    }

    @Test("Every error code has a name, advice and a description")
    func explainsCodes() {
        #expect(Set(OutboxError.Code.known.map(\.name)).count == OutboxError.Code.known.count)
        for code in OutboxError.Code.known {
            let error = OutboxError(code)
            #expect(code.advice.count > 20)
            #expect(error.errorDescription?.isEmpty == false)
            #expect(error.recoverySuggestion == code.advice)
            #expect(error.isCancellation == (code.name == "cancelled"))
        }
    }
}

/// An adapter that notes the size of the largest answer to a query.
private final class SizeWitness: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    private let size = Mutex(0)
    /// Called before a query returns documents.
    private let onFound: @Sendable () async -> Void

    init(_ upstream: any StorageAdapter, onFound: @escaping @Sendable () async -> Void = {}) {
        self.upstream = upstream
        self.onFound = onFound
    }

    var largest: Int { size.withLock { $0 } }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        let result = try await upstream.read(request)
        if case .found(let documents) = result.payload {
            let bytes = documents.reduce(0) { $0 + $1.body.bytes.count }
            size.withLock { $0 = max($0, bytes) }
            if !documents.isEmpty { await onFound() }
        }
        return result
    }
}
