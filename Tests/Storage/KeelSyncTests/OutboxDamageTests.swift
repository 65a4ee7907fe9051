import KeelCore
import KeelStorage
import KeelSync
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Damaged outbox entries", .timeLimit(.minutes(1)))
struct OutboxDamageTests {
    private let wall = Wall()

    private func makeOutbox(
        _ store: DamageableStore,
        _ change: (inout Outbox.Configuration) -> Void = { _ in }
    ) -> Outbox {
        var configuration = Outbox.Configuration(wall)
        change(&configuration)
        return Outbox(store.client, configuration: configuration)
    }

    /// Enqueues writes of two keys, and then damages one of them.
    private func makeStore(
        _ kind: DamageableStore.Kind,
        _ damage: Damage
    ) async throws -> DamageableStore {
        let store = try DamageableStore(kind, wall)
        let outbox = makeOutbox(store)
        for (text, key) in [
            ("first", "a"), ("other", "b"), ("bad", "a"), ("last", "a"), ("more", "b"),
        ] {
            try await outbox.enqueue(.note(text, key: key))
        }
        try await store.damage("bad", damage)
        return store
    }

    @Test(
        "A damaged entry does not stop a runner, is reported once, and lets others pass",
        arguments: Damage.everywhere
    )
    func continuesKey(damage: Damage, kind: DamageableStore.Kind) async throws {
        let store = try await makeStore(kind, damage)
        let events = Mutex<[String]>([])
        let outbox = makeOutbox(store) { configuration in
            configuration.onEvent = { event in
                if case .damaged(let entry) = event { events.withLock { $0.append(entry.id) } }
            }
        }
        #expect(try await outbox.pending().map(\.id) == ["first", "other", "last", "more"])
        #expect(try await outbox.unsentKeys() == ["a", "b"])
        let damaged = try await outbox.damaged()
        #expect(damaged.map(\.id) == ["bad"])
        #expect(damaged.map(\.key) == [damage.leavesKey ? "a" : nil])
        #expect(damaged.first?.error.code == .corrupted)
        var updates = outbox.updates().makeAsyncIterator()
        #expect(try await updates.next()?.count == 4)

        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server))
        #expect(server.applied.filter { $0.write.key == "a" }.map(\.write.id) == ["first", "last"])
        #expect(server.applied.filter { $0.write.key == "b" }.map(\.write.id) == ["other", "more"])
        #expect(events.withLock { $0 } == ["bad"])
        #expect(try await outbox.unsentKeys() == (damage.leavesKey ? ["a"] : []))
        #expect(try await !outbox.protects("a"))

        for decide in [
            { try await outbox.retry("bad") }, { try await outbox.edit("bad") { _ in } },
        ] {
            let error = await #expect(throws: OutboxError.self) { try await decide() }
            #expect(error?.code == .damaged && error?.cause != nil)
        }
        let receipt = outbox.receipt(for: "bad")
        await expectError(OutboxError.self, .damaged) { try await receipt.server() }
        try await outbox.discard("bad")
        #expect(try await outbox.damaged().isEmpty)
        await expectError(OutboxError.self, .discarded) { try await receipt.server() }
    }

    @Test(
        "A damaged entry holds its key if rejected ones do, or every key if its own is unknown",
        arguments: Damage.everywhere
    )
    func holdsKey(damage: Damage, kind: DamageableStore.Kind) async throws {
        let store = try await makeStore(kind, damage)
        let outbox = makeOutbox(store) { $0.rejection = .holdsKey }
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server) == false)
        #expect(server.bodies == (damage.leavesKey ? ["other", "more"] : []))
        let keys = try await outbox.protectedKeys { _ in false }
        #expect(keys["a"] != nil)
        #expect(try await outbox.protects("a"))
        try await outbox.discard("bad")
        #expect(try await outbox.flush(sending: server))
        #expect(server.applied.filter { $0.write.key == "a" }.map(\.write.id) == ["first", "last"])
    }

    @Test("An entry damaged while a runner waits is reported and lets later ones pass")
    func isMetLater() async throws {
        let store = try DamageableStore(.memory, wall)
        let clock = TestClock()
        let events = Mutex(0)
        let outbox = makeOutbox(store) { configuration in
            configuration.clock = clock
            configuration.onEvent = { event in
                if case .damaged = event { events.withLock { $0 += 1 } }
            }
        }
        let server = RecordingServer()
        let running = Task { try await outbox.run(sending: server) }
        await clock.waitForSleepers()
        let other = makeOutbox(store)
        let receipt = outbox.receipt(for: "bad")
        try await other.enqueue(.note("bad"))
        let waiting = Task { try await receipt.server() }
        try await store.damage("bad", .kindMissing)
        try await outbox.enqueue(.note("good"))
        try await outbox.receipt(for: "good").server()
        try await waitUntil { events.withLock { $0 } == 1 }
        // A wait that begins after the runner has met the entry ends at the next poll.
        await expectError(OutboxError.self, .damaged) {
            try await clock.run { try await waiting.value }
        }
        running.cancel()
        try await running.value
        #expect(server.bodies == ["good"])
    }

    @Test(
        "An entry that becomes readable again is sent in order",
        arguments: DamageableStore.Kind.sealing
    )
    func isSentOnceReadable(kind: DamageableStore.Kind) async throws {
        let store = try await makeStore(kind, .sealed)
        let outbox = makeOutbox(store)
        let receipt = outbox.receipt(for: "bad")
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server))
        await #expect(throws: OutboxError.self) { try await receipt.server() }
        store.heal()
        #expect(try await outbox.flush(sending: server))
        #expect(server.bodies.last == "bad")
        #expect(try await receipt.server().body != nil)
    }

    @Test(
        "A write that another runner is sending is not sent again after one that becomes readable",
        arguments: DamageableStore.Kind.sealing
    )
    func leavesLeasedWrite(kind: DamageableStore.Kind) async throws {
        let store = try DamageableStore(kind, wall)
        let (outbox, other) = (makeOutbox(store), makeOutbox(store))
        for text in ["a", "b"] { try await outbox.enqueue(.note(text)) }
        try await store.damage("a", .sealed)
        let gate = Gate()
        let slow = RecordingServer { _ in .waits(gate) }
        async let flushed = outbox.flush(sending: slow)
        try await waitUntil { !slow.deliveries.isEmpty }
        store.heal()
        let server = RecordingServer()
        #expect(try await other.flush(sending: server) == false)
        #expect(server.bodies == ["a"])
        gate.open()
        #expect(try await flushed)
        #expect(slow.bodies == ["b"])
    }

    @Test("Hundreds of damaged entries hide no others, and all can be discarded")
    func many() async throws {
        let store = try DamageableStore(.memory, wall)
        let outbox = makeOutbox(store)
        for number in 0..<450 {
            try await outbox.enqueue(.note("bad \(number)", key: "bad"))
            try await store.damage("bad \(number)", .kindMissing)
        }
        try await outbox.enqueue(.note("good"))
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server))
        #expect(server.bodies == ["good"])
        #expect(try await outbox.damaged().count == 450)
        try await outbox.discardAll()
        #expect(try await outbox.damaged().isEmpty)
    }

    @Test("A store that rejects writes is retried after pauses, and nothing is sent")
    func fullDisk() async throws {
        let wall = wall
        let store = InMemoryStorageAdapter(now: { wall.now })
        let commits = Mutex<[Duration]>([])
        let isFull = Mutex(false)
        let full = store.failing { call in
            guard case .commit = call, isFull.withLock({ $0 }) else { return nil }
            commits.withLock { $0.append(wall.uptime) }
            return .fail(.diskFull)
        }
        let clock = TestClock()
        let outbox = Outbox(
            StorageClient(full),
            configuration: Outbox.Configuration(wall, clock: clock)
        )
        try await outbox.enqueue(.note("a"))
        isFull.withLock { $0 = true }
        let server = RecordingServer()
        #expect(try await outbox.flush(sending: server) == false)
        #expect(commits.withLock { $0.count } == 1)
        commits.withLock { $0 = [] }

        let begin = wall.uptime
        let running = Task { try await outbox.run(sending: server) }
        func pass() async {
            await clock.waitForSleepers()
            wall.advance(by: 1)
            await clock.advance(by: .seconds(1))
        }
        while commits.withLock({ $0.count < 5 }), !Task.isCancelled { await pass() }
        let times = commits.withLock { $0 }
        // Time may pass while the runner accesses the store, but no attempt is too early.
        for (time, least) in zip(times, [0, 1, 3, 7, 15]) {
            #expect(time - begin >= .seconds(least))
        }
        #expect(server.deliveries.isEmpty)
        isFull.withLock { $0 = false }
        while server.bodies.isEmpty, !Task.isCancelled { await pass() }
        try await outbox.receipt(for: "a").server()
        running.cancel()
        try await running.value
    }

    @Test("A write whose outcome cannot be stored is resent after a pause")
    func unwrittenEnd() async throws {
        let wall = wall
        let store = InMemoryStorageAdapter(now: { wall.now })
        let isFull = Mutex(false)
        let full = store.failing { call in
            guard case .commit = call, isFull.withLock({ $0 }) else { return nil }
            return .fail(.diskFull)
        }
        let outbox = Outbox(StorageClient(full), configuration: Outbox.Configuration(wall))
        try await outbox.enqueue(.note("a"))
        let server = RecordingServer { _ in
            isFull.withLock { $0 = true }
            return .taken
        }
        #expect(try await outbox.flush(sending: server) == false)
        #expect(server.deliveries.count == 1)
        isFull.withLock { $0 = false }
        wall.advance(by: 76)
        _ = try await outbox.flush(sending: RecordingServer())
        #expect(try await outbox.pending().isEmpty)
    }
}
