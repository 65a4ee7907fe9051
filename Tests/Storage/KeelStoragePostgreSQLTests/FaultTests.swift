#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Faults of PostgreSQL")
struct FaultTests {
    private func batch(_ id: String) -> WriteBatch {
        WriteBatch([DocumentWrite("notes/\(id)", .set(DocumentBody(["id": .string(id)])))])
    }

    private func thread(_ url: String) throws -> ConnectionThread {
        try .test(url, answerLimit: .seconds(10))
    }

    private func run(_ sql: String, on thread: ConnectionThread) async throws -> Int64 {
        try await thread.run { try $0.run(DatabaseStatement(sql)).first?.integer(0) ?? 0 }
    }

    private func writer(of adapter: PostgreSQLStorageAdapter) async throws -> Int64 {
        try await run("SELECT pg_backend_pid()", on: adapter.pool.writer)
    }

    /// Begins a transaction, without the time limit that Keel's sessions have for idle ones.
    private func begin(on stranger: ConnectionThread) async throws {
        _ = try await run("SET idle_in_transaction_session_timeout = 0", on: stranger)
        _ = try await run("BEGIN", on: stranger)
    }

    // MARK: Locks

    @Test("A commit that waits too long for the tail has no effect, and the next one goes on")
    func waitsForTheTail() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let stranger = try thread(try await PostgreSQLServer.shared.value.url())
            try await begin(on: stranger)
            _ = try await run(
                "SELECT 1 FROM keel.stores WHERE store = \(adapter.store.number) FOR UPDATE",
                on: stranger
            )
            let limit = adapter.configuration.answerTimeout
            // Only for this commit: what comes before and after it may take longer on a busy machine.
            try await adapter.pool.writer.run { $0.answerLimit = .milliseconds(300) }
            let error = await expectError(StorageError.self, .timeout) {
                try await adapter.commit([batch("1")])
            }
            #expect(error?.effect == StorageError.Effect.none)
            try await adapter.pool.writer.run { $0.answerLimit = limit }
            _ = try await run("ROLLBACK", on: stranger)
            let results = try await adapter.commit([batch("2")])
            #expect(throws: Never.self) { try results[0].get() }
            let page = try await adapter.changes(ChangeRequest())
            #expect(page.changes.map(\.path) == ["notes/2"])
            await stranger.close()
        }
    }

    @Test("A commit whose writes wait beyond the deadline has an unknown effect, and others go on")
    func endsInTheMiddle() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let first = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        let adapter = try await PostgreSQLStorageAdapter.test(at: server.port) {
            // Enough for the commit's reading, on a busy machine too; its writing uses all of it.
            $0.answerTimeout = .seconds(10)
        }
        // An adapter's first commit also trims the log, before the COMMIT.
        _ = try await adapter.commit([batch("1")])
        let stranger = try thread(server.url())
        try await begin(on: stranger)
        // Lets the commit read, and holds up its writes, behind which the server already has the COMMIT.
        _ = try await run("LOCK TABLE keel.documents IN SHARE MODE", on: stranger)
        let error = await expectError(StorageError.self, .timeout) {
            try await adapter.commit([batch("2")])
        }
        #expect(error?.effect == .unknown)
        _ = try await run("ROLLBACK", on: stranger)
        let results = try await first.commit([batch("3")])
        #expect(throws: Never.self) { try results[0].get() }
        let page = try await first.changes(ChangeRequest())
        let paths = page.changes.map(\.path)
        // The second one took effect before the third one, or never does.
        #expect([["notes/1", "notes/2", "notes/3"], ["notes/1", "notes/3"]].contains(paths))
        for adapter in [first, adapter] { await adapter.close() }
        await stranger.close()
    }

    @Test("A stranger's open transaction holds up neither commits nor readers of changes")
    func ignoresStrangers() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let stranger = try thread(try await PostgreSQLServer.shared.value.url())
            try await begin(on: stranger)
            _ = try await run("SELECT txid_current()", on: stranger)
            let start = try await adapter.changes(ChangeRequest()).next
            _ = try await adapter.commit([batch("1")])
            let page = try await adapter.changes(ChangeRequest(after: start))
            #expect(page.changes.map(\.path) == ["notes/1"])
            #expect(page.isCaughtUp)
            await stranger.close()
        }
    }

    // MARK: Connections

    @Test("A server that allows few connections is used with few")
    func sharesConnections() async throws {
        let server = try await PostgreSQLServer(
            options: ["max_connections=4", "superuser_reserved_connections=0"]
        )
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<30 {
                group.addTask {
                    // Long enough that all of them want a connection at the same time.
                    try await adapter.reading { snapshot, _ in
                        try snapshot.connection.run(DatabaseStatement("SELECT pg_sleep(0.02)"))
                            .count
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(count == 30)
        await adapter.close()
    }

    private static let waiting =
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"

    /// A server that allows three connections, and an adapter that reads over two at most.
    private struct Crowd {
        let clock = TestClock()
        let server: PostgreSQLServer
        let adapter: PostgreSQLStorageAdapter

        init() async throws {
            server = try await PostgreSQLServer(
                options: ["max_connections=3", "superuser_reserved_connections=0"]
            )
            var configuration = PostgreSQLStorageAdapter.Configuration()
            configuration.readerCount = 2
            configuration.clock = clock
            adapter = try await PostgreSQLStorageAdapter(
                at: .url(server.url()),
                configuration: configuration
            )
        }

        func read(_ sql: String, isQuick: Bool = true) async throws -> Int {
            try await adapter.pool.reading(isQuick: isQuick) {
                try $0.run(DatabaseStatement(sql)).count
            }
        }
    }

    /// Ends the connection of a stranger, and waits until the adapter may open its own.
    private func leave(_ stranger: ConnectionThread, _ crowd: Crowd) async throws {
        await stranger.close()
        let used = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        while try await run(used, on: crowd.adapter.pool.writer) > 2 {}
        await crowd.clock.advance(by: .seconds(30))
    }

    @Test("Connections that the server refused for a moment are opened later")
    func opensRefusedConnections() async throws {
        let crowd = try await Crowd()
        defer { crowd.server.stop() }
        let pool = crowd.adapter.pool
        // With the writer and a stranger, there is one connection left for two reads.
        let stranger = try thread(crowd.server.url())
        _ = try await run("SELECT pg_advisory_lock(7)", on: stranger)
        let first = Task { try await crowd.read("SELECT pg_advisory_xact_lock(7)") }
        while try await run(Self.waiting, on: stranger) == 0 {}
        let second = Task { try await crowd.read("SELECT 1") }
        try await waitUntil { pool.refusedCount > 0 }
        _ = try await run("SELECT pg_advisory_unlock(7)::integer", on: stranger)
        #expect(try await first.value == 1)
        #expect(try await second.value == 1)
        let statistics = try await crowd.adapter.statistics()
        #expect(statistics.readerCount == 1)
        #expect(statistics.refusedReaderCount == 1)
        // Then the stranger leaves.
        try await leave(stranger, crowd)
        _ = try await run("SELECT pg_advisory_lock(7)", on: pool.writer)
        let third = Task { try await crowd.read("SELECT pg_advisory_xact_lock(7)") }
        while try await run(Self.waiting, on: pool.writer) == 0 {}
        #expect(try await crowd.read("SELECT 1") == 1)
        _ = try await run("SELECT pg_advisory_unlock(7)::integer", on: pool.writer)
        #expect(try await third.value == 1)
        #expect(pool.refusedCount == 0)
        await crowd.adapter.close()
    }

    /// Begins a read that waits for a lock, and one that is refused a connection until a stranger has left.
    private func refuse(
        in crowd: Crowd,
        behindQuick isQuick: Bool
    ) async throws -> (long: Task<Int, any Error>, quick: Task<Int, any Error>) {
        let pool = crowd.adapter.pool
        let stranger = try thread(crowd.server.url())
        _ = try await run("SELECT 1", on: stranger)
        _ = try await run("SELECT pg_advisory_lock(7)", on: pool.writer)
        let long = Task {
            try await crowd.read("SELECT pg_advisory_xact_lock(7)", isQuick: isQuick)
        }
        while try await run(Self.waiting, on: pool.writer) == 0 {}
        let quick = Task { try await crowd.read("SELECT 1") }
        try await waitUntil { pool.refusedCount > 0 }
        try await leave(stranger, crowd)
        return (long, quick)
    }

    @Test("A query that waits for another one gives the places of refused connections back")
    func recoversBehindAQuery() async throws {
        let crowd = try await Crowd()
        defer { crowd.server.stop() }
        let pool = crowd.adapter.pool
        let (long, quick) = try await refuse(in: crowd, behindQuick: false)
        let next = Task { try await crowd.read("SELECT 1", isQuick: false) }
        #expect(try await quick.value == 1)
        _ = try await run("SELECT pg_advisory_unlock(7)::integer", on: pool.writer)
        #expect(try await long.value == 1)
        #expect(try await next.value == 1)
        await crowd.adapter.close()
    }

    @Test("A read that ends gives the places of refused connections to those that wait already")
    func recoversAtTheEndOfARead() async throws {
        let crowd = try await Crowd()
        defer { crowd.server.stop() }
        let pool = crowd.adapter.pool
        let (long, quick) = try await refuse(in: crowd, behindQuick: true)
        // Nobody enters any more.
        _ = try await run("SELECT pg_advisory_unlock(7)::integer", on: pool.writer)
        #expect(try await long.value == 1)
        #expect(try await quick.value == 1)
        try await waitUntil { pool.refusedCount == 0 }
        await crowd.adapter.close()
    }

    @Test("Slow queries hold up neither listeners nor reads by path nor statistics")
    func leavesRoomForQuickWork() async throws {
        try await PostgreSQLServer.withStore {
            $0.readerCount = 3
        } _: { adapter in
            let other = try await adapter.another()
            let cursor = try await adapter.changes(ChangeRequest()).next
            let stranger = try thread(try await PostgreSQLServer.shared.value.url())
            let key = adapter.store.number
            _ = try await run("SELECT pg_advisory_lock(\(key))", on: stranger)
            let queries = (0..<8).map { _ -> Task<Int, any Error> in
                Task {
                    try await adapter.reading { snapshot, _ in
                        try snapshot.connection.run(
                            DatabaseStatement("SELECT pg_advisory_xact_lock(\(key))")
                        ).count
                    }
                }
            }
            let waiting = """
                SELECT count(*) FROM pg_locks
                WHERE locktype = 'advisory' AND NOT granted AND objid = \(key)
                """
            while try await run(waiting, on: stranger) == 0 {}
            async let page = adapter.changes(
                ChangeRequest(after: cursor, waitTimeout: .seconds(60))
            )
            _ = try await other.commit([batch("1")])
            #expect(try await page.changes.map(\.path) == ["notes/1"])
            let found = try await adapter.read(ReadRequest(.documents(["notes/1"]))).documents
            #expect(found.map { $0?.id } == ["1"])
            _ = try await adapter.statistics()
            // The queries have waited all the while.
            #expect(try await run(waiting, on: stranger) == 1)
            _ = try await run("SELECT pg_advisory_unlock(\(key))::integer", on: stranger)
            for query in queries { #expect(try await query.value == 1) }
            await stranger.close()
            await other.close()
        }
    }

    @Test("A held state ends with its connection, and a later read never answers from the present")
    func losesHeldStates() async throws {
        // A server of its own, because all idle transactions are terminated.
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        _ = try await adapter.commit([batch("1")])
        var hold = ReadRequest(.documents([]))
        hold.holdDuration = .seconds(30)
        let time = try #require(try await adapter.read(hold).time)
        _ = try await adapter.commit([batch("2")])
        let stranger = try thread(server.url())
        let ended = try await run(
            """
            SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
            WHERE state = 'idle in transaction' AND pid <> pg_backend_pid()
            """,
            on: stranger
        )
        #expect(ended == 1)
        var past = ReadRequest(.documents(["notes/2"]))
        past.asOf = time
        for _ in 0..<2 {
            await expectError(StorageError.self, .snapshotTooOld) { try await adapter.read(past) }
        }
        await stranger.close()
        await adapter.close()
    }

    /// The ways in which a read of a held state is stopped.
    enum Stop: CaseIterable {
        case cancellation
        case deadline
        case failure
    }

    @Test("A held state ends with a read that was stopped", arguments: Stop.allCases)
    func losesStoppedStates(_ stop: Stop) async throws {
        try await PostgreSQLServer.withStore { adapter in
            _ = try await adapter.commit([batch("1")])
            var hold = ReadRequest(.documents([]))
            hold.holdDuration = .seconds(30)
            let time = try #require(try await adapter.read(hold).time)
            // The second request shares the state of the first.
            #expect(try await adapter.read(hold).time == time)
            let state = adapter.held.read(at: time) { $0 }
            let held = try #require(state)
            let pid = try await run("SELECT pg_backend_pid()", on: held)
            let sql = stop == .failure ? "SELECT 1/0" : "SELECT pg_sleep(60)"
            if case .deadline = stop { try await held.run { $0.answerLimit = .milliseconds(500) } }
            let stopped = Task { try await run(sql, on: held) }
            if case .cancellation = stop {
                let stranger = try thread(try await PostgreSQLServer.shared.value.url())
                let sleeping =
                    "SELECT count(*) FROM pg_stat_activity WHERE pid = \(pid) AND wait_event = 'PgSleep'"
                while try await run(sleeping, on: stranger) == 0 {}
                stopped.cancel()
                await stranger.close()
            }
            await #expect(throws: StorageError.self) { try await stopped.value }
            var past = ReadRequest(.documents(["notes/2"]))
            past.asOf = time
            for _ in 0..<2 {
                await expectError(StorageError.self, .snapshotTooOld) {
                    try await adapter.read(past)
                }
            }
            // Another request can hold the same time.
            #expect(try await adapter.read(hold).time == time)
            _ = try await adapter.commit([batch("2")])
            let found = try await adapter.read(past).documents
            #expect(found == [nil])
        }
    }

    @Test("A held state that finds no connection is answered without a hold")
    func answersWithoutAHold() async throws {
        let server = try await PostgreSQLServer(
            options: ["max_connections=3", "superuser_reserved_connections=0"]
        )
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        _ = try await adapter.commit([batch("1")])
        #expect(try await adapter.reading { _, _ in true })
        let stranger = try thread(server.url())
        _ = try await run("SELECT 1", on: stranger)
        var hold = ReadRequest(.documents(["notes/1"]))
        hold.holdDuration = .seconds(30)
        let result = try await adapter.read(hold)
        #expect(result.time == nil)
        let found = try result.documents
        #expect(found.map { $0?.id } == ["1"])
        await stranger.close()
        await adapter.close()
    }

    // MARK: Keys

    @Test("Indexes and searches are not completed while the key is absent")
    func waitsForKey() async throws {
        let key = RefusingByteSealing()
        try await PostgreSQLServer.withStore {
            $0.sealing = key
            $0.allowsPlaintextSearch = true
        } _: { adapter in
            _ = try await adapter.commit([batch("1"), batch("2")])
            let schema = StorageSchema(
                indexes: [IndexDefinition("notes", [.ascending("id")])],
                searches: [SearchDefinition("notes", fields: ["id"])]
            )
            key.isAbsent = true
            await expectError(StorageError.self, .corrupted) { try await adapter.prepare(schema) }
            key.isAbsent = false
            try await adapter.prepare(schema)
            let search = DocumentQuery("notes").matching("2")
            for query in [search, DocumentQuery("notes").where(.equal("id", "2"))] {
                let request = ReadRequest(.query(try QueryValidation.checked(query)))
                let found = try await adapter.read(request).found
                #expect(found.map(\.id) == ["2"])
            }
        }
    }

    // MARK: Announcements

    @Test("A commit of another adapter wakes a request that waits, by its announcement")
    func wakes() async throws {
        try await PostgreSQLServer.withStore { adapter in
            let other = try await adapter.another()
            var cursor = try await adapter.changes(ChangeRequest()).next
            let start = ContinuousClock.now
            for number in 0..<5 {
                let request = ChangeRequest(after: cursor, waitTimeout: .seconds(60))
                async let page = adapter.changes(request)
                _ = try await other.commit([batch("\(number)")])
                let found = try await page
                #expect(found.changes.map(\.path) == [DocumentPath("notes/\(number)")])
                cursor = found.next
            }
            // Far less than five silences, after which the adapter would look by itself.
            #expect(ContinuousClock.now - start < .seconds(15))
            await other.close()
        }
    }

    // MARK: Synchronous replication

    /// The ways in which the wait for a standby ends.
    enum Ending: CaseIterable {
        case cancellation
        case termination
        case deadline
        /// The server starts anew, and recovers the commit without having it confirmed.
        case restart
    }

    @Test("A commit that no standby confirms has an unknown effect", arguments: Ending.allCases)
    func waitsForAStandby(_ ending: Ending) async throws {
        let server = try await PostgreSQLServer(options: ["synchronous_standby_names=nobody"])
        defer { server.stop() }
        let local = server.url("keel", "?options=-c%20synchronous_commit%3Dlocal")
        let first = try await PostgreSQLStorageAdapter(at: .url(local))
        _ = try await first.commit([batch("1")])
        let adapter = try await PostgreSQLStorageAdapter.test(at: server.port) {
            switch ending {
            // Enough for all but the confirmation that does not come, on a busy machine too.
            case .deadline, .restart: $0.answerTimeout = .seconds(10)
            case .cancellation, .termination: break
            }
        }
        let pid = try await writer(of: adapter)
        let commit = Task { try await adapter.commit([batch("2")]) }
        let owner = try thread(local)
        if ending != .deadline {
            let waiting =
                "SELECT count(*) FROM pg_stat_activity WHERE pid = \(pid) AND wait_event = 'SyncRep'"
            while try await run(waiting, on: owner) == 0 {}
            switch ending {
            case .restart:
                // A killed process ends those of all connections, and with them the one that runs this.
                _ = try? await server.run("COPY (SELECT 1) TO PROGRAM 'kill -9 \(pid)'")
            default:
                let function =
                    ending == .cancellation ? "pg_cancel_backend" : "pg_terminate_backend"
                _ = try await run("SELECT \(function)(\(pid))::integer", on: owner)
            }
        }
        let error = await #expect(throws: StorageError.self) { try await commit.value }
        #expect(error?.code == (ending == .deadline ? .timeout : .unavailable))
        #expect(error?.effect == .unknown)
        for adapter in [first, adapter] { await adapter.close() }
        await owner.close()
    }
}
#endif
