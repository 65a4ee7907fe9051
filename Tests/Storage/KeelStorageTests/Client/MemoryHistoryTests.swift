import KeelStorage
import KeelTestKit
import Synchronization
import Testing

@Suite("History of the in-memory adapter")
struct MemoryHistoryTests {
    @Test("States within the history's age are readable, much older ones are not")
    func forgets() async throws {
        let age = TestClock()
        let store = StorageClient(InMemoryStorageAdapter(clock: age, history: .seconds(100)))
        var commits: [Timestamp] = []
        for number in Int64(0)..<200 {
            commits.append(try await store.setDocument("a/b", ["n": .integer(number)]).commitTime)
            for (value, commit) in commits.enumerated().suffix(10) {
                let then = try await store.asOf(commit).getDocument("a/b")
                #expect(try then.fields() == ["n": .integer(Int64(value))])
            }
            await age.advance(by: .seconds(10))
        }
        await #expect(throws: StorageError.self) {
            _ = try await store.asOf(commits[10]).getDocument("a/b")
        }
    }

    @Test("A listener of the past gets one snapshot, even if the history has removed it")
    func listener() async throws {
        let (age, clock) = (TestClock(), TestClock())
        var configuration = StorageClient.Configuration()
        configuration.clock = clock
        let store = StorageClient(
            InMemoryStorageAdapter(clock: age, history: .seconds(1)),
            configuration: configuration
        )
        let then = try store.asOf(try await store.setDocument("a/b", ["n": 1]).commitTime)
        let snapshots = Mutex(0)
        let listening = Task {
            for try await snapshot in then.listen(to: DocumentQuery("a")) {
                #expect(snapshot.documents.count == 1)
                snapshots.withLock { $0 += 1 }
            }
        }
        await clock.waitForSleepers()
        for number in Int64(0)..<100 {
            try await store.setDocument("a/b", ["n": .integer(number)])
            await age.advance(by: .seconds(10))
        }
        for _ in 0..<3 {
            await clock.advance(by: .seconds(2))
            await clock.waitForSleepers()
        }
        listening.cancel()
        try await listening.value
        #expect(snapshots.withLock { $0 } == 1)
    }
}
