#if PostgreSQL
import KeelCore
import KeelStorage
import KeelStorageAdapting
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

    @Test(
        "A request that comes while the connection is being lost is told of commits",
        .timeLimit(.minutes(5))
    )
    func comesDuringALoss() async throws {
        let server = try await PostgreSQLServer.shared.value
        // A database of its own, because its table is locked.
        let database = "lost_\(UInt32.random(in: 0 ... .max))"
        try await server.run("CREATE DATABASE \(database)")
        let url = server.url(database: database)
        try await PostgreSQLServer.withStore(at: url) { adapter in
            let number = adapter.store.number
            let signal = Signal()
            let watch = try ChangeWatch(
                adapter.pool.settings,
                answerLimit: .seconds(30),
                store: number,
                raising: signal
            )
            defer { watch.close() }
            #expect(!watch.begin(after: -1))
            await signal.wait(since: 0)
            watch.end()
            // Holds up the watch while no request waits.
            let stranger = try ConnectionThread.test(url)
            for sql in [
                "SET idle_in_transaction_session_timeout = 0", "BEGIN", "LOCK TABLE keel.stores",
            ] {
                try await stranger.run([sql])
            }
            let owner = try ConnectionThread.test(url)
            _ = try await owner.run { try $0.run(ChangeWatch.announcement(of: number)).count }
            let blocked = """
                SELECT coalesce(max(pid), 0)::bigint FROM pg_stat_activity
                WHERE datname = '\(database)' AND wait_event_type = 'Lock'
                """
            var pid: Int64 = 0
            while pid == 0 {
                pid = try await owner.run {
                    try $0.run(DatabaseStatement(blocked)).first?.integer(0) ?? 0
                }
            }
            #expect(!watch.begin(after: 0))
            let generation = signal.generation
            try await owner.run(["SELECT pg_terminate_backend(\(pid), 5000)"])
            try await stranger.run(["ROLLBACK"])
            let write = DocumentWrite("notes/1", .set(DocumentBody(["n": 1])))
            _ = try await adapter.commit([WriteBatch([write])])[0].get()
            await signal.wait(since: generation)
            for thread in [stranger, owner] { await thread.close() }
        }
    }
}
#endif
