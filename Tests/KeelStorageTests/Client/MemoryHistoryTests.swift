import KeelStorage
import KeelTestKit
import Synchronization
import Testing

@Suite("The history of a memory adapter")
struct MemoryHistoryTests {
    private final class SetTime: Sendable {
        private let value = Atomic<Int64>(1_000_000_000_000)
        var now: Timestamp { Timestamp(microseconds: value.load(ordering: .relaxed)) }
        func advance(by seconds: Int64) { value.add(seconds * 1_000_000, ordering: .relaxed) }
    }

    @Test("What is younger than its age can be read, and what is much older cannot")
    func forgets() async throws {
        let time = SetTime()
        let store = StorageClient(
            InMemoryStorageAdapter(history: .seconds(100), now: { time.now })
        )
        var commits: [Timestamp] = []
        for number in Int64(0)..<200 {
            commits.append(try await store.setDocument("a/b", ["n": .integer(number)]).commitTime)
            for (value, commit) in commits.enumerated().suffix(10) {
                let then = try await store.asOf(commit).getDocument("a/b")
                #expect(try then.fields() == ["n": .integer(Int64(value))])
            }
            time.advance(by: 10)
        }
        await #expect(throws: StorageError.self) {
            _ = try await store.asOf(commits[10]).getDocument("a/b")
        }
    }

    @Test("A listener of the past gets one snapshot, also when the history has forgotten it")
    func listener() async throws {
        let (time, clock) = (SetTime(), TestClock())
        var configuration = StorageClient.Configuration()
        configuration.clock = clock
        let store = StorageClient(
            InMemoryStorageAdapter(history: .seconds(1), now: { time.now }),
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
            time.advance(by: 10)
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
