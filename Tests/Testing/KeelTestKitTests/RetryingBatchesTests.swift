import KeelCore
import KeelStorage
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Batches of one commit in a retrying adapter")
struct RetryingBatchesTests {
    let memory = InMemoryStorageAdapter()

    @Test("Only failed batches are retried, and results keep their order")
    func failedBatches() async throws {
        let recorded = memory.failing([.failBatches([0, 2])]).recorded()
        let batches = try ["1", "2", "3"].map { try textBatch("notes/\($0)", $0) }
        let results = try await recorded.retrying(.atOnce(3)).commit(batches)

        #expect(recorded.lastCommit?.map { $0.writes[0].path } == ["notes/1", "notes/3"])
        let revisions = try results.map { try $0.get().revision }
        for (number, revision) in zip(1..., revisions) {
            let stored = try await StorageClient(memory).getDocument("notes/\(number)")
            #expect(stored.revision == revision)
        }
    }

    @Test("A conflict in one batch is not retried and does not stop the others")
    func lastingFailure() async throws {
        let recorded = memory.failing([.failBatches([1])]).recorded()
        var refused = try textBatch("notes/1", "x")
        refused.writes[0].condition = .exists
        let results = try await recorded.retrying(.atOnce(3))
            .commit([refused, try textBatch("notes/2", "y")])
        #expect(results.map { $0.failure?.code } == [.documentNotFound, nil])
        #expect(recorded.lastCommit?.map { $0.writes[0].path } == ["notes/2"])
    }

    @Test("A batch that a later one has overtaken is not retried")
    func overtaken() async throws {
        let flaky = memory.failing([.failBatches([0])])
        let results = try await flaky.retrying(.atOnce(3))
            .commit([try textBatch("notes/1", "old"), try textBatch("notes/1", "new")])
        #expect(results.map { $0.failure?.code } == [.busy, nil])
        #expect(flaky.callCount == 1)
        #expect(try await StorageClient(memory).getDocument("notes/1")["text"] == "new")
    }

    @Test("Failed batches of one document are retried in order")
    func allFailed() async throws {
        let flaky = memory.failing([.failBatches([0, 1])])
        _ = try await flaky.retrying(.atOnce(3))
            .commit([try textBatch("notes/1", "old"), try textBatch("notes/1", "new")])
        #expect(flaky.callCount == 2)
        #expect(try await StorageClient(memory).getDocument("notes/1")["text"] == "new")
    }

    @Test("Successful batches are reported even if retrying the rest fails")
    func partialSuccess() async throws {
        let flaky = memory.failing([.failBatches([0]), .fail(.diskFull)])
        let results = try await flaky.retrying(.atOnce(3))
            .commit([try textBatch("notes/1", "a"), try textBatch("notes/2", "b")])
        #expect(results.map { $0.failure?.code } == [.diskFull, nil])
        #expect(results[0].failure?.effect == StorageError.Effect.none)
    }

    @Test("Batches that never succeed fail individually after the last attempt")
    func givesUp() async throws {
        let flaky = memory.failing { _ in .failBatches([0]) }
        let results = try await flaky.retrying(.atOnce(3)).commit([incrementBatch("counters/1")])
        #expect(results.map { $0.failure?.code } == [.busy])
        #expect(flaky.callCount == 3)
    }

    @Test("A store's final result for a batch settles the uncertainty after a lost reply")
    func finalWord() async throws {
        let memory = memory
        let flaky = memory.failing([.lostReply(StorageError(.unavailable, "", effect: .unknown))])
        var refused = incrementBatch("counters/1")
        refused.writes[0].condition = .exists
        let results = try await flaky.retrying(.atOnce(2)).commit([refused])
        #expect(results.map { $0.failure?.code } == [.documentNotFound])
        #expect(results[0].failure?.effect == StorageError.Effect.none)
    }

    @Test(
        "An error from before the batch is looked for does not tell whether the lost call took effect",
        arguments: [
            StorageError.Code.unauthenticated, .permissionDenied, .schemaTooNew, .decodingFailed,
            .corrupted, .closed, .readOnly,
        ]
    )
    func refusedAtTheDoor(code: StorageError.Code) async throws {
        let flaky = memory.failing([
            .lostReply(StorageError(.unavailable, "", effect: .unknown)), .failBatches([0], code),
        ])
        let results = try await flaky.retrying(.atOnce(2)).commit([incrementBatch("counters/1")])
        #expect(results.map { $0.failure?.code } == [code])
        #expect(results[0].failure?.effect == .unknown)
    }

    @Test("Too few results from a store are an error, not a crash")
    func missingResults() async {
        let broken = ScriptedStorageAdapter(commits: [.success([])])
        let error = await expectError(StorageError.self, .unknown) {
            try await broken.retrying(.atOnce(3)).commit([incrementBatch("counters/1")])
        }
        #expect(error?.effect == .unknown)
    }

    @Test("An empty commit succeeds")
    func nothing() async throws {
        #expect(try await memory.retrying(.atOnce(3)).commit([]).isEmpty)
    }
}
