import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Retrying adapter")
struct RetryingStorageAdapterTests {
    let memory = InMemoryStorageAdapter()

    @Test("A transient failure of any call is retried", arguments: StorageCall.Kind.allCases)
    func repeatsAll(_ kind: StorageCall.Kind) async throws {
        let flaky = memory.failing([.fail(.busy), .fail(.timeout)])
        let storage = flaky.retrying(.atOnce(3))
        switch kind {
        case .prepare: try await storage.prepare(StorageSchema())
        case .read: _ = try await storage.read(ReadRequest(.documents(["notes/1"])))
        case .commit: _ = try await storage.commit([incrementBatch("counters/1")])
        case .changes: _ = try await storage.changes(ChangeRequest())
        }
        #expect(flaky.callCount == 3)
    }

    @Test("Retrying stops after the last attempt")
    func givesUp() async {
        let offline = memory.failing { _ in .fail(.unavailable) }
        let storage = StorageClient(offline.retrying(.atOnce(3)))
        await expectError(StorageError.self, .unavailable) {
            try await storage.getDocument("notes/1")
        }
        #expect(offline.callCount == 3)
    }

    @Test("A lasting failure is not retried")
    func lastingFailure() async {
        let refusing = memory.failing { _ in .fail(.permissionDenied) }
        await #expect(throws: StorageError.self) {
            try await StorageClient(refusing.retrying(.atOnce(3))).getDocument("notes/1")
        }
        #expect(refusing.callCount == 1)
    }

    @Test("An increment with a lost reply is applied once on a store that keeps ids")
    func lostReply() async throws {
        let flaky = memory.failing([.loseReply(), .loseReply()])
        let results = try await flaky.retrying(.atOnce(3)).commit([incrementBatch("counters/1")])
        for result in results { _ = try result.get() }
        #expect(flaky.callCount == 3)
        #expect(try await StorageClient(memory).getDocument("counters/1")["count"] == 1)
    }

    @Test("A commit with a lost reply is not retried on a store without ids")
    func lostReplyWithoutIDs() async throws {
        let forgetful = ForgetfulStorageAdapter()
        let flaky = forgetful.failing([.loseReply()])
        let error = await #expect(throws: StorageError.self) {
            try await flaky.retrying(.atOnce(3)).commit([incrementBatch("counters/1")])
        }
        #expect(error?.effect == .unknown)
        #expect(flaky.callCount == 1)
        #expect(try await StorageClient(forgetful).getDocument("counters/1")["count"] == 1)
    }

    @Test("A commit that did not reach a store without ids is retried")
    func refusedWithoutIDs() async throws {
        let forgetful = ForgetfulStorageAdapter()
        let recorded = forgetful.recorded()
        let storage = recorded.failing([.fail()]).retrying(.atOnce(2))
        _ = try await storage.commit([incrementBatch("counters/1")])
        #expect(recorded.lastCommit?.map(\.id) == [nil])
        #expect(try await StorageClient(forgetful).getDocument("counters/1")["count"] == 1)
    }

    @Test("Batches get 128-bit ids before the first attempt and keep existing ones")
    func ids() async throws {
        let recorded = memory.recorded()
        var own = incrementBatch("counters/1")
        own.id = "mine"
        let batches = [incrementBatch("counters/1"), own, incrementBatch("counters/1")]
        _ = try await recorded.failing([.loseReply()]).retrying(.atOnce(2)).commit(batches)

        let commits = recorded.calls.compactMap { call -> [String?]? in
            guard case .commit(let batches) = call else { return nil }
            return batches.map(\.id)
        }
        try #require(commits.count == 2)
        #expect(commits[0] == commits[1])
        #expect(commits[0][1] == "mine")
        #expect(commits[0][0]?.count == 32)
        #expect(commits[0][0] != commits[0][2])
    }

    @Test("A policy with one attempt assigns no ids")
    func noIDsWithoutRetries() async throws {
        let recorded = memory.recorded()
        _ = try await recorded.retrying(.never).commit([incrementBatch("counters/1")])
        #expect(recorded.lastCommit?.map(\.id) == [nil])
    }

    @Test("An error after a lost reply states that the write may have happened")
    func uncertaintyStays() async {
        let flaky = memory.failing([.loseReply(), .fail(), .fail(.diskFull)])
        let error = await expectError(StorageError.self, .diskFull) {
            try await flaky.retrying(.atOnce(5)).commit([incrementBatch("counters/1")])
        }
        #expect(error?.effect == .unknown)
    }
}
