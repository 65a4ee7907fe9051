import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Time limits of calls")
struct LimitTests {
    private let clock = TestClock()
    private let memory = InMemoryStorageAdapter()

    private func client(
        _ adapter: some StorageAdapter,
        _ change: (inout StorageClient.Configuration) -> Void = { _ in }
    ) -> StorageClient {
        var configuration = StorageClient.Configuration()
        configuration.clock = clock
        change(&configuration)
        return StorageClient(adapter, configuration: configuration)
    }

    /// Returns the error of a call whose time limit passes while it waits.
    private func error(
        after limit: Duration = .seconds(2),
        of call: @escaping @Sendable () async throws -> Void
    ) async -> StorageError? {
        let task = Task { await #expect(throws: StorageError.self) { try await call() } }
        await clock.advance(by: limit, onceAsleep: 1)
        return await task.value
    }

    /// Returns a store that does not answer before the task is canceled.
    private func stalled(
        _ code: StorageError.Code = .cancelled,
        effect: StorageError.Effect = .none
    ) -> StandInAdapter {
        StandInAdapter(memory) { _ throws(StorageError) in
            await waitForCancellation()
            throw StorageError(code, "the store was left", effect: effect)
        }
    }

    @Test("A read that exceeds its configured or individual time limit fails with timeout")
    func reads() async throws {
        let everyCall = client(stalled()) { $0.timeLimit = .seconds(2) }
        let oneCall = client(stalled()).limited(to: .seconds(2))
        for storage in [everyCall, oneCall] {
            let error = await error { _ = try await storage.getDocument("a/1") }
            #expect(error?.code == .timeout)
            #expect(error?.effect == StorageError.Effect.none)
            #expect(error?.operation == "getDocument")
        }
        let notes = oneCall.collection("notes", as: [String: String].self)
        #expect(await error { _ = try await notes.findAll() }?.code == .timeout)
    }

    @Test("A commit stopped by its time limit reports its possible effect")
    func commits() async throws {
        for effect in [StorageError.Effect.none, .unknown] {
            let storage = client(stalled(effect: effect)).limited(to: .seconds(2))
            let error = await error { try await storage.setDocument("a/1", ["n": 1]) }
            #expect(error?.code == .timeout)
            #expect(error?.effect == effect)
        }
    }

    @Test("A commit that completes after its time limit succeeds")
    func completes() async throws {
        let storage = client(CompletingAdapter(upstream: memory)).limited(to: .seconds(2))
        let task = Task { try await storage.setDocument("a/1", ["n": 1]) }
        await clock.advance(by: .seconds(2), onceAsleep: 1)
        _ = try await task.value
        #expect(try await storage.getDocument("a/1")["n"] == 1)
    }

    @Test("A call to an unavailable store fails with timeout and the store's error as its cause")
    func away() async throws {
        let storage = client(stalled(.unavailable)).limited(to: .seconds(2))
        let error = await error { _ = try await storage.getDocument("a/1") }
        #expect(error?.code == .timeout)
        #expect((error?.cause as? StorageError)?.code == .unavailable)
    }

    @Test("Canceling the caller's task is not a timeout")
    func cancels() async throws {
        let storage = client(stalled()).limited(to: .seconds(2))
        let task = Task {
            await #expect(throws: StorageError.self) { try await storage.getDocument("a/1") }
        }
        await clock.waitForSleepers()
        task.cancel()
        #expect(await task.value?.code == .cancelled)
    }

    @Test("The reads and commit of a transaction share one time limit")
    func transactions() async throws {
        let clock = clock
        let adapter = StandInAdapter(memory) { [clock] call in
            if case .read = call { await clock.advance(by: .seconds(1)) }
        }
        let storage = client(adapter).limited(to: .seconds(2))
        await expectError(StorageError.self, .timeout) {
            try await storage.transaction { transaction in
                for number in 0..<5 { _ = try await transaction.findDocument("a/\(number)") }
            }
        }
        #expect(adapter.reads.count == 2)
    }

    @Test("The batches of saveAll share one time limit, and the error reports the stored values")
    func batches() async throws {
        let clock = clock
        let adapter = StandInAdapter(memory) { [clock] call in
            if case .commit = call { await clock.advance(by: .seconds(1)) }
        }
        let storage = client(adapter).limited(to: .milliseconds(1_500))
        let values = (0..<12_000).map { Numbered(id: "\($0)") }
        let error = await expectError(StorageError.self, .timeout) {
            try await storage.collection("a", as: Numbered.self).saveAll(values)
        }
        #expect(error?.effect == .unknown)
        #expect(adapter.commits.count == 2)
    }

    @Test("The error of a page after the deadline of a transaction names the operation")
    func pages() async throws {
        let (clock, storage) = (clock, client(memory))
        let operations = try await storage.limited(to: .seconds(1)).transaction { _ in
            await clock.advance(by: .seconds(1))
            let iteration = await expectError(StorageError.self, .timeout) {
                for try await _ in storage.documents(matching: DocumentQuery("a")) {}
            }
            let page = await expectError(StorageError.self, .timeout) {
                try await storage.page(DocumentQuery("a"))
            }
            return [iteration?.operation, page?.operation]
        }
        #expect(operations == ["documents", "page"])
    }

    @Test("The earlier of two deadlines applies, and decorators pass it and the principal on")
    func passesOn() async throws {
        let adapter = StandInAdapter(memory)
        let stack = adapter.retrying(.attempts(3))
            .mirrored(to: InMemoryStorageAdapter()) { _ in }
            .migrating(DocumentMigrations([]))
        let principal = StoragePrincipal(id: "ann", claims: ["admin": true])
        let storage = client(stack).limited(to: .seconds(5)).acting(as: principal)
        try await storage.setDocument("a/1", ["n": 1])
        _ = try await storage.getDocument("a/1")
        try await storage.transaction { transaction in
            _ = try await storage.limited(to: .seconds(60)).getDocument("a/1")
            _ = try await storage.limited(to: .seconds(1)).getDocument("a/1")
            try transaction.set("a/2", [:])
        }
        let limits = adapter.contexts.map(\.timeLeft)
        #expect(limits.contains(.seconds(1)))
        #expect(limits.allSatisfy { $0 == .seconds(5) || $0 == .seconds(1) })
        #expect(adapter.contexts.allSatisfy { $0.principal == principal })
        #expect(StorageContext.current.timeLeft == nil)
    }

    @Test("The shared reader of a principal’s listeners has its principal and no time limit")
    func listeners() async throws {
        let adapter = StandInAdapter(memory)
        let principal = StoragePrincipal(id: "x")
        let app = client(adapter)
        let storage = app.limited(to: .seconds(2)).acting(as: principal)
        var snapshots = storage.listen(to: DocumentQuery("a")).makeAsyncIterator()
        _ = try await snapshots.next()
        try await storage.setDocument("a/1", [:])
        _ = try await snapshots.next()
        let shared = adapter.calls.filter { if case .changes = $0.call { true } else { false } }
        #expect(!shared.isEmpty)
        #expect(
            shared.allSatisfy { $0.context.timeLeft == nil && $0.context.principal == principal }
        )
        var own = app.listen(to: DocumentQuery("a")).makeAsyncIterator()
        _ = try await own.next()
        try await app.setDocument("a/2", [:])
        _ = try await own.next()
        #expect(adapter.contexts.contains { $0.principal == nil })
    }

    @Test("The reads of listeners have no time limit, also within a call that has one")
    func listenerReads() async throws {
        let adapter = StandInAdapter(memory)
        let storage = client(adapter).limited(to: .seconds(2))
        try await storage.transaction { _ in
            var snapshots = storage.listen(to: DocumentQuery("a")).makeAsyncIterator()
            _ = try await snapshots.next()
            var documents = storage.listenToDocument("a/1").makeAsyncIterator()
            _ = try await documents.next()
            var counts = storage.observe(DocumentQuery("a"), [.count()]).makeAsyncIterator()
            _ = try await counts.next()
        }
        let reads = adapter.calls.filter { if case .read = $0.call { true } else { false } }
        #expect(reads.count >= 3)
        #expect(reads.allSatisfy { $0.context.timeLeft == nil })
    }

    @Test("A moment is taken, renewed and released on behalf of its principal")
    func moments() async throws {
        let adapter = StandInAdapter(memory)
        let principal = StoragePrincipal(id: "x")
        let moment = try await StorageContext().of(principal).run {
            () async throws(StorageError) in
            try await ReadMoment.present(of: adapter, on: clock)
        }
        await clock.advance(by: .seconds(11))
        try await moment?.renew()
        await moment?.end()
        #expect(adapter.contexts.count == 3)
        #expect(adapter.contexts.allSatisfy { $0.principal == principal })
    }
}

private struct Numbered: Codable, Sendable, Identifiable { var id: String }

/// Completes a commit that it has begun, even if the task is canceled.
private struct CompletingAdapter: ForwardingStorageAdapter {
    let upstream: any StorageAdapter

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}
    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        await waitForCancellation()
        // A separate task is not canceled.
        let completed = await Task { try? await upstream.commit(batches) }.value
        guard let completed else { throw StorageError(.unknown, "the commit failed") }
        return completed
    }
}
