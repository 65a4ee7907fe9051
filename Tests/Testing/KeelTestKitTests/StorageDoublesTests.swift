import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Storage doubles")
struct StorageDoublesTests {
    @Test("A recorded adapter records calls with their arguments, in order")
    func recorded() async throws {
        let recorded = InMemoryStorageAdapter().recorded()
        let schema = StorageSchema(searches: [SearchDefinition("notes", fields: ["text"])])
        let storage = StorageClient(recorded, schema: schema)
        try await storage.setDocument("notes/1", ["text": "a"])
        try await storage.deleteDocument("notes/1")
        _ = try await storage.findDocument("notes/2")
        _ = try await recorded.changes(ChangeRequest(limit: 7))

        #expect(recorded.calls.map(\.kind) == [.prepare, .commit, .commit, .read, .changes])
        #expect(recorded.callCount == 5)
        #expect(recorded.callCount(of: .commit) == 2)
        #expect(recorded.lastSchema == schema)
        #expect(recorded.lastRead == ReadRequest(.documents(["notes/2"])))
        #expect(recorded.lastCommit == [WriteBatch([.delete("notes/1")])])
        #expect(recorded.lastChanges?.limit == 7)
        #expect(recorded.writes == [try .set(["text": "a"], at: "notes/1"), .delete("notes/1")])

        let copy = recorded
        copy.forget()
        #expect(recorded.calls.isEmpty)
        #expect(recorded.lastRead == nil)
    }

    @Test("A recorded adapter counts calls from many tasks")
    func recordedConcurrently() async {
        let recorded = InMemoryStorageAdapter().recorded()
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask { _ = try? await recorded.commit([incrementBatch("counters/1")]) }
            }
        }
        #expect(recorded.callCount(of: .commit) == 200)
        let count = try? await StorageClient(recorded).getDocument("counters/1")["count"]
        #expect(count == 200)
    }

    @Test("A fault before the call does not affect the store, and a lost reply does")
    func faults() async throws {
        let memory = InMemoryStorageAdapter()
        let faulty = memory.failing([.fail(.diskFull), .loseReply(), nil])
        var codes: [StorageError.Code] = []
        var counts: [DocumentValue?] = []
        for _ in 1...3 {
            do throws(StorageError) {
                _ = try await faulty.commit([incrementBatch("counters/1")])
            } catch {
                codes.append(error.code)
            }
            counts.append(try await StorageClient(memory).findDocument("counters/1")?["count"])
        }
        #expect(codes == [.diskFull, .unavailable])
        #expect(counts == [nil, 1, 2])
        #expect(faulty.callCount == 3)
    }

    @Test("A closure can inject faults by the call's arguments")
    func closure() async throws {
        let faulty = InMemoryStorageAdapter().failing { call in
            guard case .commit(let batches) = call,
                batches.contains(where: { $0.writes.contains { $0.path == "notes/2" } })
            else { return nil }
            return .fail(.permissionDenied)
        }
        let storage = StorageClient(faulty)
        try await storage.setDocument("notes/1", ["text": "a"])
        await #expect(throws: StorageError.self) {
            try await storage.setDocument("notes/2", ["text": "a"])
        }
    }

    @Test("A delay passes on the injected clock", .timeLimit(.minutes(1)))
    func delay() async throws {
        let clock = TestClock()
        let slow = InMemoryStorageAdapter().failing(
            [.delay(.seconds(3600)), .delay(.seconds(60), then: .fail(.timeout))],
            clock: clock
        )
        try await clock.run { try await slow.prepare(StorageSchema()) }
        #expect(clock.elapsed == .seconds(3600))
        await #expect(throws: StorageError.self) {
            try await clock.run { try await slow.prepare(StorageSchema()) }
        }
        #expect(clock.elapsed == .seconds(3660))
    }

    @Test("A cancelled delay throws a cancellation", .timeLimit(.minutes(1)))
    func cancelledDelay() async {
        let clock = TestClock()
        let slow = InMemoryStorageAdapter().failing([.delay(.seconds(3600))], clock: clock)
        let call = Task { try await slow.prepare(StorageSchema()) }
        await clock.waitForSleepers()
        call.cancel()
        let error = await #expect(throws: StorageError.self) { try await call.value }
        #expect(error?.isCancellation == true)
    }

    @Test("A scripted adapter answers in order and reports when no answers are left")
    func scripted() async throws {
        let scripted = ScriptedStorageAdapter(reads: [
            .success(ReadResult(.documents([.stub("notes/1", ["text": "Hello"])]))),
            .failure(StorageError(.unavailable, "offline")),
        ])
        let storage = StorageClient(scripted)
        #expect(try await storage.getDocument("notes/1")["text"] == "Hello")
        var error = await #expect(throws: StorageError.self) {
            try await storage.getDocument("notes/1")
        }
        #expect(error?.code == .unavailable)
        #expect(scripted.remainingAnswerCount == 0)
        error = await #expect(throws: StorageError.self) {
            try await storage.getDocument("notes/1")
        }
        #expect(error?.code == .unscripted)
    }

    @Test("An unimplemented adapter names itself and notifies its listener")
    func unimplemented() async throws {
        let heard = Mutex<[String]>([])
        let storage = StorageClient(
            UnimplementedStorageAdapter("ProfileTests.storage") { error in
                heard.withLock { $0.append(error.message) }
            }
        )
        let error = await expectError(StorageError.self, .unimplemented) {
            try await storage.collections()
        }
        #expect(error?.message.contains("ProfileTests.storage") == true)
        #expect(heard.withLock { $0 }.count == 1)
    }
}
