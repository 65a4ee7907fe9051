#if PostgreSQL
import KeelCore
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Watches of a PostgreSQL store")
struct ChangeWatchTests {
    @Test("A request that has seen a commit before the watch wakes the requests that have not")
    func wakesOthers() throws {
        // No server is there, so that the watch learns of commits only from requests.
        let settings = ConnectionSettings(
            hosts: [["host": "127.0.0.1", "port": "1"]],
            attemptLimit: .seconds(1)
        )
        let signal = Signal()
        let watch = try ChangeWatch(settings, answerLimit: .seconds(1), store: 1, raising: signal)
        defer { watch.close() }
        #expect(!watch.begin(after: 4))
        let generation = signal.generation
        #expect(!watch.begin(after: 5))
        #expect(signal.generation == generation + 1)
        // Those that come later have seen it, or learn of it at once.
        #expect(!watch.begin(after: 5))
        #expect(watch.begin(after: 4))
        #expect(signal.generation == generation + 1)
        for _ in 0..<4 { watch.end() }
        // Nobody waits who could have missed it.
        #expect(!watch.begin(after: 6))
        #expect(signal.generation == generation + 1)
    }

    @Test(
        "A store that lacks changes that requests have seen wakes them, and is followed from there",
        .timeLimit(.minutes(5))
    )
    func goesBack() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let signal = Signal()
            let watch = try ChangeWatch(
                adapter.pool.settings,
                answerLimit: .seconds(30),
                store: adapter.store.number,
                raising: signal
            )
            defer { watch.close() }
            // The sequence of an empty store is 0.
            #expect(!watch.begin(after: -1))
            await signal.wait(since: 0)
            watch.end()
            // The connection stays open, as one to a pooler does during a failover.
            let generation = signal.generation
            #expect(!watch.begin(after: 1))
            await signal.wait(since: generation)
            // Otherwise no request would wait until the store has more changes than it had.
            #expect(!watch.begin(after: 0))
        }
    }
}
#endif
