#if PostgreSQL
import KeelConformance
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

extension PostgreSQLStorageAdapter: RetainingAdapter {}

@Suite("Retention in PostgreSQL", .timeLimit(.minutes(10)))
struct RetentionTests {
    @discardableResult
    private func set(
        _ paths: [String],
        _ number: Int = 0,
        in adapter: PostgreSQLStorageAdapter
    ) async throws -> ChangeCursor {
        let writes = paths.map {
            DocumentWrite(DocumentPath($0), .set(DocumentBody(["n": .integer(Int64(number))])))
        }
        let receipt = try await adapter.commit([WriteBatch(writes)])[0].get()
        return try #require(receipt.position)
    }

    /// Runs a statement in which `$` is the store's number.
    @discardableResult
    private func run(_ sql: String, on adapter: PostgreSQLStorageAdapter) async throws -> Int64? {
        let server = try await PostgreSQLServer.shared.value
        return try await server.run(sql.replacing("$", with: "\(adapter.store.number)"))
    }

    private func rowCount(_ adapter: PostgreSQLStorageAdapter) async throws -> Int64? {
        try await run("SELECT count(*) FROM keel.changes WHERE store = $", on: adapter)
    }

    private func changes(
        after cursor: ChangeCursor,
        in adapter: PostgreSQLStorageAdapter
    ) async throws -> [DocumentPath] {
        var paths: [DocumentPath] = []
        var request = ChangeRequest(after: cursor)
        while true {
            let page = try await adapter.changes(request)
            paths += page.changes.map(\.path)
            request.after = page.next
            if page.isCaughtUp { return paths }
        }
    }

    private func refuses(
        _ cursor: ChangeCursor,
        in adapter: PostgreSQLStorageAdapter
    ) async throws {
        await expectError(StorageError.self, .cursorExpired) {
            _ = try await adapter.changes(ChangeRequest(after: cursor))
        }
    }

    @Test("It keeps the promises about retention", arguments: RetentionCheck.all)
    func keeps(_ check: RetentionCheck) async throws {
        let wall = ClockWalk.Wall()
        try await PostgreSQLServer.withStore {
            $0.retention = check.retention
            $0.history = check.history
            $0.now = { wall.now }
        } _: { adapter in
            try await check.run(on: adapter, wall)
            #expect(try await adapter.checkIntegrity().isSound)
        }
    }

    @Test(
        "A wrong clock only affects document times, with or without a history",
        arguments: [Duration.seconds(4 * 3600), nil]
    )
    func walks(_ history: Duration?) async throws {
        let walk = ClockWalk(steps: 400)
        try await PostgreSQLServer.withStore {
            $0.history = history
            $0.now = { [wall = walk.wall] in wall.now }
        } _: { adapter in
            try await walk.run(on: adapter, history: history)
            #expect(try await adapter.checkIntegrity().isSound)
        }
    }

    @Test(
        "A compacted log reports the same changes as a full one",
        arguments: [true, false],
        1...4
    )
    func compacts(dropsNothing: Bool, turn: Int) async throws {
        let fuzz = CompactedLogFuzz(dropsNothing: dropsNothing)
        try await PostgreSQLServer.withStore { first in
            try await fuzz.run(turn: turn) { retention in
                var configuration = first.configuration
                configuration.retention = retention
                configuration.now = { fuzz.wall.now }
                return try await PostgreSQLStorageAdapter(
                    at: first.location,
                    configuration: configuration
                )
            } close: {
                await ($0 as? PostgreSQLStorageAdapter)?.close()
            }
            #expect(try await first.checkIntegrity().isSound)
        }
    }

    // MARK: The log

    @Test("Every change is kept within the byte limit, and older ones once per document")
    func bytes() async throws {
        try await PostgreSQLServer.withStore {
            // A change of a document with a one-byte id counts 41.
            $0.retention = .init(bytes: 10 * 41)
        } _: { adapter in
            let start = try await set(["a/0"], in: adapter)
            for round in 1...20 {
                for id in 0..<3 { try await set(["a/\(id)"], round, in: adapter) }
            }
            try await adapter.trim()
            // The first change stays for the period of its mark.
            #expect(try await rowCount(adapter) == 1 + 10)
            #expect(try await changes(after: start, in: adapter).count == 3)
            _ = try await adapter.commit([WriteBatch([DocumentWrite("a/1", .delete)])])
            for round in 0..<20 { try await set(["a/0"], round, in: adapter) }
            try await adapter.trim()
            // Besides the first change: the last one of a document, the removal, and ten of another document.
            #expect(try await rowCount(adapter) == 1 + 2 + 10)
            #expect(try await changes(after: start, in: adapter) == ["a/2", "a/1", "a/0"])
            #expect(try await adapter.checkIntegrity().isSound)
        }
    }

    @Test("A long log is trimmed in steps, with the next commits")
    func trimsInSteps() async throws {
        try await PostgreSQLServer.withStore { long in
            let start = try await set(["a/0"], in: long)
            let paths = (0..<500).map { "a/\($0)" }
            for round in 1...20 { try await set(paths, round, in: long) }
            #expect(try await rowCount(long) == 10_001)
            var configuration = long.configuration
            configuration.retention = .init(bytes: 0)
            let short = try await PostgreSQLStorageAdapter(
                at: long.location,
                configuration: configuration
            )
            // Each step compacts 2,000 changes, of which some stay for their periods.
            for round in 1...3 {
                try await set(paths, 20 + round, in: short)
                let rest = Int64(10_001 + round * 500 - round * 2_000)
                let count = try #require(try await rowCount(short))
                #expect((rest...rest + 10).contains(count))
            }
            #expect(try await Set(changes(after: start, in: short)).count == 500)
            try await short.trim()
            let count = try #require(try await rowCount(short))
            #expect((500...550).contains(count))
            // The ends of periods name a document again.
            #expect(try await Set(changes(after: start, in: short)).count == 500)
            await short.close()
        }
    }

    @Test("A cursor to a change that a failover has lost expires, also in a compacted log")
    func lost() async throws {
        try await PostgreSQLServer.withStore {
            $0.retention = .init(bytes: 0)
        } _: { adapter in
            var known: [ChangeCursor] = []
            for id in ["a/1", "a/2", "a/1", "a/2"] {
                known.append(try await set([id], known.count, in: adapter))
            }
            let state = "seq, mark, total, documents, collections, trimmed, compacted, kept"
            try await run(
                "CREATE TABLE kept_$ AS SELECT \(state) FROM keel.stores WHERE store = $",
                on: adapter
            )
            let lost = try await set(["a/3"], in: adapter)
            // The state of a standby that lacks the last commit, and was promoted.
            try await run(
                "DELETE FROM keel.changes WHERE store = $ AND seq > (SELECT seq FROM kept_$)",
                on: adapter
            )
            try await run(
                "DELETE FROM keel.documents WHERE store = $ AND did > (SELECT documents FROM kept_$)",
                on: adapter
            )
            try await run(
                """
                UPDATE keel.stores SET (\(state)) = (SELECT \(state) FROM kept_$), timeline = timeline + 1
                WHERE store = $
                """,
                on: adapter
            )
            for round in 1...3 { try await set(["a/1", "a/2", "a/4"], 10 + round, in: adapter) }
            try await adapter.trim()
            try await refuses(lost, in: adapter)
            // Those of the shared past go on, also the one whose change was compacted.
            for cursor in known {
                #expect(try await Set(changes(after: cursor, in: adapter)).count == 3)
            }
            try await run("DROP TABLE kept_$", on: adapter)
        }
    }

    @Test("The number of stored readers is limited, and a further one is refused")
    func names() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let start = try await set(["a/0"], in: adapter)
            try await run(
                """
                INSERT INTO keel.readers
                SELECT $, convert_to('r' || n, 'UTF8'), 1, 1, 1 FROM generate_series(0, 999) n
                """,
                on: adapter
            )
            try await adapter.registerReader("r7", at: start)
            await expectError(StorageError.self, .tooLarge) {
                try await adapter.registerReader("new", at: start)
            }
            let counted = "SELECT count(*) FROM keel.readers WHERE store = $"
            #expect(try await run(counted, on: adapter) == 1_000)
        }
    }

    // MARK: The history

    @Test("A history that is no longer kept is removed in steps, and not by opening the store")
    func removesHistory() async throws {
        try await PostgreSQLServer.withStore {
            $0.history = .seconds(3600)
        } _: { keeping in
            try await set(["a/1"], in: keeping)
            let counted = "SELECT count(*) FROM keel.history WHERE store = $"
            try await run("DELETE FROM keel.history WHERE store = $", on: keeping)
            try await run(
                """
                INSERT INTO keel.history(store, cid, id, time, did)
                SELECT $, 1, convert_to('old' || n, 'UTF8'),
                    (SELECT seq FROM keel.stores WHERE store = $) - n, n
                FROM generate_series(1, 2500) n
                """,
                on: keeping
            )
            func open(_ history: Duration) async throws -> PostgreSQLStorageAdapter {
                var configuration = keeping.configuration
                configuration.history = history
                return try await PostgreSQLStorageAdapter(
                    at: keeping.location,
                    configuration: configuration
                )
            }
            let ending = try await open(.zero)
            #expect(!ending.capabilities.contains(.pointInTimeReads))
            #expect(try await run(counted, on: keeping) == 2_500)
            // A new history does not reach into the former one.
            let again = try await open(.seconds(60))
            #expect(try await again.checkIntegrity().isSound)
            var past = ReadRequest(.documents(["a/1"]))
            past.asOf = Timestamp(microseconds: 0)
            await expectError(StorageError.self, .snapshotTooOld) { try await again.read(past) }
            let last = try await open(.zero)
            try await set(["a/1"], 1, in: last)
            try await last.trim()
            #expect(try await run(counted, on: keeping) == 0)
            let started = "SELECT count(history_start) FROM keel.stores WHERE store = $"
            #expect(try await run(started, on: keeping) == 0)
            for adapter in [ending, again, last] { await adapter.close() }
        }
    }

    // MARK: Groups

    @Test(
        "The rows by which adapters find out outcomes are removed once their adapters are long gone"
    )
    func groups() async throws {
        let wall = ClockWalk.Wall()
        try await PostgreSQLServer.withStore {
            $0.retention = .init(receiptAge: .seconds(3600))
            $0.now = { wall.now }
        } _: { adapter in
            let counted = "SELECT count(*) FROM keel.groups WHERE store = $"
            let (gone, idle) = (try await adapter.another(), try await adapter.another())
            for (number, adapter) in [adapter, gone, idle].enumerated() {
                try await set(["a/1"], number, in: adapter)
            }
            await gone.close()
            #expect(try await run(counted, on: adapter) == 3)
            /// Commits every two hours.
            func pass(_ hours: Int) async throws {
                for number in 0..<hours / 2 {
                    wall.move(by: .seconds(2 * 3600))
                    try await set(["a/2"], number, in: adapter)
                }
                try await adapter.trim()
            }
            // Receipts are gone after an hour, but a row is kept for four days.
            try await pass(80)
            #expect(try await run(counted, on: adapter) == 3)
            // This commit changes nothing, but keeps a receipt: the sequence stays, and the row counts as new.
            let nothing = WriteBatch(id: "nothing", [DocumentWrite("a/9", .delete)])
            for result in try await idle.commit([nothing]) { _ = try result.get() }
            try await pass(20)
            #expect(try await run(counted, on: adapter) == 2)
            try await pass(80)
            #expect(try await run(counted, on: adapter) == 1)
            // An adapter that comes back adds its row again.
            try await set(["a/4"], in: idle)
            #expect(try await run(counted, on: adapter) == 2)
            await idle.close()
            #expect(try await adapter.checkIntegrity().isSound)
        }
    }

    // MARK: Tables of earlier programs

    /// Removes what earlier programs did not have.
    static let removals = [
        "DROP TABLE keel.records", "DROP TABLE keel.readers", "DROP TABLE keel.moments",
        "ALTER TABLE keel.changes DROP COLUMN total",
        "ALTER TABLE keel.stores DROP COLUMN compacted, DROP COLUMN kept, DROP COLUMN total",
    ]

    @Test("Tables of an earlier program are completed once, whoever comes first")
    func completes() async throws {
        let server = try await PostgreSQLServer.shared.value
        let database = "former_\(UInt32.random(in: 0 ... .max))"
        try await server.run("CREATE DATABASE \(database)")
        let location = PostgreSQLStorageLocation.url(server.url(database: database))
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.retention = .init(bytes: 4 * 41)
        let former = try await PostgreSQLStorageAdapter(at: location)
        let old = try await set(["a/1", "a/2"], in: former)
        try await set(["a/1"], 1, in: former)
        await former.close()
        let owner = try ConnectionThread.test(server.url(database: database))
        try await owner.run(Self.removals)
        await owner.close()
        let adapters = try await withThrowingTaskGroup(of: PostgreSQLStorageAdapter.self) {
            [configuration] group in
            for _ in 0..<4 {
                group.addTask {
                    try await PostgreSQLStorageAdapter(at: location, configuration: configuration)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let adapter = adapters[0]
        #expect(try await adapter.sharedRecord("a") == nil)
        #expect(try await changes(after: old, in: adapter) == ["a/1"])
        try await adapter.registerReader("sync", at: old)
        for round in 0..<10 { try await set(["a/1", "a/3"], round, in: adapters[1]) }
        try await adapter.trim()
        #expect(try await Set(changes(after: old, in: adapter)) == ["a/1", "a/3"])
        #expect(try await adapter.checkIntegrity().isSound)
        for adapter in adapters { await adapter.close() }
    }

    @Test("A reader whose registration no standby has confirmed is told so")
    func waitsForAStandby() async throws {
        let server = try await PostgreSQLServer(options: ["synchronous_standby_names=nobody"])
        defer { server.stop() }
        let local = server.url("keel", "?options=-c%20synchronous_commit%3Dlocal")
        let first = try await PostgreSQLStorageAdapter(at: .url(local))
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        let cursor = try await adapter.changes(ChangeRequest()).next
        let registration = Task { try await adapter.registerReader("backup", at: cursor) }
        let cancel = """
            SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
            WHERE wait_event = 'SyncRep'
            """
        while try await server.run(cancel) == 0 {}
        let error = await #expect(throws: StorageError.self) { try await registration.value }
        #expect(error?.code == .unavailable)
        #expect(error?.effect == .unknown)
        for adapter in [first, adapter] { await adapter.close() }
    }
}
#endif
