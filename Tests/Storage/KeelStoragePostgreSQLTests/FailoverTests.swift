#if PostgreSQL
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Failovers of PostgreSQL")
struct FailoverTests {
    private func adapter(
        on servers: PostgreSQLServer...,
        configuration: PostgreSQLStorageAdapter.Configuration = .init()
    ) async throws -> PostgreSQLStorageAdapter {
        let hosts = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return try await PostgreSQLStorageAdapter(
            at: .url("postgres://keel@\(hosts)/postgres"),
            configuration: configuration
        )
    }

    private func batch(_ path: DocumentPath) -> WriteBatch {
        WriteBatch([DocumentWrite(path, .set(DocumentBody(["id": .string(path.id)])))])
    }

    /// Commits one document, once a server accepts it.
    private func commit(_ path: DocumentPath, to adapter: some StorageAdapter) async throws {
        for result in try await adapter.retrying(.attempts(30)).commit([batch(path)]) {
            _ = try result.get()
        }
    }

    private func ids(_ paths: [DocumentPath], in adapter: PostgreSQLStorageAdapter) async throws
        -> [String?]
    {
        guard
            case .documents(let found) = try await adapter.read(ReadRequest(.documents(paths)))
                .payload
        else { return [] }
        return found.map { $0?.id }
    }

    /// Returns the time of the store's state.
    private func time(in adapter: PostgreSQLStorageAdapter) async throws -> Timestamp {
        var request = ReadRequest(.documents([]))
        request.needsTime = true
        return try #require(try await adapter.read(request).time)
    }

    /// Ends the replication to a standby, and waits until the primary knows.
    private func cut(_ standby: PostgreSQLServer, from primary: PostgreSQLServer) async throws {
        try await standby.run("ALTER SYSTEM SET primary_conninfo = ''")
        try await standby.run("SELECT pg_reload_conf()")
        try await primary.run(
            """
            DO $$ BEGIN
                WHILE EXISTS (SELECT FROM pg_stat_replication) LOOP
                    PERFORM pg_stat_clear_snapshot();
                    PERFORM pg_sleep(0.01);
                END LOOP;
            END $$
            """
        )
    }

    /// Makes new connections to a server able to write, or not.
    ///
    /// A busy machine may answer late, and the adapter then tries the next host, which a test may not want yet.
    private func allow(_ isAllowed: Bool, writesTo server: PostgreSQLServer) async throws {
        let value = isAllowed ? "off" : "on"
        try await server.run("ALTER SYSTEM SET default_transaction_read_only = \(value)")
        try await server.run("SELECT pg_reload_conf()")
        try await waitUntil {
            let setting = "current_setting('default_transaction_read_only') = '\(value)'"
            return try await server.run("SELECT (\(setting))::integer") == 1
        }
    }

    /// Waits until a standby has everything that the primary has committed.
    func catchUp(_ standby: PostgreSQLServer, with primary: PostgreSQLServer) async throws {
        let position = try await primary.run("SELECT (pg_current_wal_lsn() - '0/0')::bigint") ?? 0
        // One statement that waits would keep its snapshot, with which the replay of a clean-up may conflict: the two
        // would wait for each other.
        try await waitUntil {
            let replayed = "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint"
            return try await standby.run(replayed) ?? 0 >= position
        }
    }

    // MARK: Synchronous replication

    /// Ends the writers of a test.
    private final class End: Sendable {
        private let value = Atomic(false)

        var isReached: Bool { value.load(ordering: .relaxed) }

        func reach() { value.store(true, ordering: .relaxed) }
    }

    @Test("A synchronous failover loses no acknowledged commit and no change of a listener")
    func losesNothing() async throws {
        let (primary, standby) = try await PostgreSQLServer.pair(isSynchronous: true)
        defer { for server in [standby, primary] { server.stop() } }
        let adapter = try await adapter(on: primary, standby)
        let start = try await adapter.changes(ChangeRequest()).next
        let listener = Task {
            var counts: [DocumentPath: Int] = [:]
            var request = ChangeRequest(after: start, waitTimeout: .seconds(10))
            while counts["notes/end"] == nil {
                let page = try await adapter.retrying(.attempts(30)).changes(request)
                for change in page.changes { counts[change.path, default: 0] += 1 }
                request.after = page.next
            }
            return counts
        }
        let (acknowledgements, acknowledging) = AsyncStream<DocumentPath>.makeStream()
        let end = End()
        var acknowledged: Set<DocumentPath> = []
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<8 {
                group.addTask {
                    var number = 0
                    while !end.isReached {
                        let path: DocumentPath = "notes/\(writer)-\(number)"
                        try await commit(path, to: adapter)
                        acknowledging.yield(path)
                        number += 1
                    }
                }
            }
            let count = TestLength.count(200, thorough: 2_000)
            for await path in acknowledgements {
                acknowledged.insert(path)
                if acknowledged.count == count {
                    primary.stop()
                    try await standby.run("SELECT pg_promote()")
                }
                if acknowledged.count == 2 * count { break }
            }
            end.reach()
            try await group.waitForAll()
        }
        acknowledging.finish()
        try await commit("notes/end", to: adapter)
        let counts = try await listener.value
        #expect(counts.values.allSatisfy { $0 == 1 })
        #expect(acknowledged.allSatisfy { counts[$0] == 1 })
        let stored = try await StorageClient(adapter).count(DocumentQuery("notes"))
        #expect(stored == counts.count)
        await adapter.close()
    }

    @Test("A commit succeeds within a second of the promotion", .timeLimit(.minutes(10)))
    func goesOnAtOnce() async throws {
        var shortest = Duration.seconds(3600)
        // A busy machine may delay a commit, but not each time.
        for _ in 0..<12 where shortest > .seconds(1) {
            let (primary, standby) = try await PostgreSQLServer.pair(isSynchronous: true)
            defer { for server in [standby, primary] { server.stop() } }
            let adapter = try await adapter(on: primary, standby)
            try await commit("notes/1", to: adapter)
            primary.stop()
            try await standby.run("SELECT pg_promote()")
            let promotion = ContinuousClock.now
            try await commit("notes/2", to: adapter)
            shortest = min(shortest, ContinuousClock.now - promotion)
            #expect(try await ids(["notes/1", "notes/2"], in: adapter) == ["1", "2"])
            await adapter.close()
        }
        #expect(shortest <= .seconds(1))
    }

    // MARK: Asynchronous replication

    @Test("What an asynchronous failover has lost is neither shown nor mistaken for anything else")
    func forgetsTheLost() async throws {
        let (primary, standby) = try await PostgreSQLServer.pair()
        defer { for server in [standby, primary] { server.stop() } }
        let adapter = try await adapter(on: primary, standby)
        try await commit("kept/1", to: adapter)
        let kept = try await adapter.changes(ChangeRequest()).next
        try await catchUp(standby, with: primary)
        try await cut(standby, from: primary)
        // The adapter learns the number of a collection that the standby will give to another one, and an index.
        try await commit("lost/1", to: adapter)
        #expect(try await ids(["lost/1"], in: adapter) == ["1"])
        try await adapter.prepare(
            StorageSchema(indexes: [IndexDefinition("lost", [.ascending("id")])])
        )
        let lost = try await adapter.changes(ChangeRequest()).next
        let before = try await time(in: adapter)
        primary.stop()
        try await standby.run("SELECT pg_promote()")
        #expect(try await ids(["kept/1", "lost/1"], in: adapter) == ["1", nil])
        // Also before the first commit, the time does not go back to that of the state.
        let promoted = try await time(in: adapter)
        #expect(before <= promoted)
        #expect(try await adapter.changes(ChangeRequest(after: kept)).time == promoted)
        try await commit("other/1", to: adapter)
        #expect(try await promoted < time(in: adapter))
        #expect(try await ids(["lost/1", "other/1"], in: adapter) == [nil, "1"])
        try await commit("lost/2", to: adapter)
        #expect(try await ids(["lost/1", "lost/2", "other/2"], in: adapter) == [nil, "2", nil])
        let query = DocumentQuery("lost").where(.equal("id", "2"))
        let found = try await StorageClient(adapter).page(query, size: 10)
        #expect(found.items.map(\.path) == ["lost/2"])
        // A listener that has seen the lost commits starts over; one that has not goes on.
        await expectError(StorageError.self, .cursorExpired) {
            try await adapter.changes(ChangeRequest(after: lost))
        }
        let page = try await adapter.changes(ChangeRequest(after: kept))
        #expect(page.changes.map(\.path) == ["other/1", "lost/2"])
        await adapter.close()
    }

    @Test("A revision that an asynchronous failover has lost is not given again")
    func leavesOutRevisions() async throws {
        let (primary, standby) = try await PostgreSQLServer.pair()
        defer { for server in [standby, primary] { server.stop() } }
        // A clock that stands still numbers changes without gaps.
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.now = { Timestamp(microseconds: 1_800_000_000_000_000) }
        let adapter = try await adapter(on: primary, standby, configuration: configuration)
        func revision() async throws -> Revision? {
            guard
                case .documents(let found) = try await adapter.read(
                    ReadRequest(.documents(["notes/1"]))
                ).payload
            else { return nil }
            return found.first??.revision
        }
        try await commit("notes/0", to: adapter)
        try await catchUp(standby, with: primary)
        try await cut(standby, from: primary)
        try await commit("notes/1", to: adapter)
        let lost = try #require(try await revision())
        primary.stop()
        try await standby.run("SELECT pg_promote()")
        #expect(try await revision() == nil)
        // The new primary is behind what the adapter has seen, which must not end every wait for changes at once.
        let start = try await adapter.changes(ChangeRequest()).next
        var hasWaited = false
        for _ in 0..<2_000 where !hasWaited {
            let request = ChangeRequest(after: start, waitTimeout: .milliseconds(300))
            let time = try await ContinuousClock().measure {
                _ = try await adapter.changes(request)
            }
            hasWaited = time >= .milliseconds(300)
        }
        #expect(hasWaited)
        try await commit("notes/1", to: adapter)
        let new = try #require(try await revision())
        #expect(lost < new)
        try await commit("notes/2", to: adapter)
        // Only the first change of the timeline leaves numbers out.
        let ids = try await adapter.changes(ChangeRequest()).changes.map(\.path.id)
        #expect(ids == ["0", "1", "2"])
        // The microsecond before each commit stays free.
        #expect(try await standby.run("SELECT seq - \(new.number) FROM keel.stores") == 2)
        await adapter.close()
    }

    @Test("A primary that was left behind by a promotion is used neither for commits nor for reads")
    func avoidsTheOldPrimary() async throws {
        let old = try await PostgreSQLServer()
        defer { old.stop() }
        let new = try await PostgreSQLServer(standbyOf: old)
        defer { new.stop() }
        let adapter = try await adapter(on: new, old)
        try await commit("notes/1", to: adapter)
        #expect(try await ids(["notes/1"], in: adapter) == ["1"])
        try await catchUp(new, with: old)
        try await new.run("SELECT pg_promote()")
        try await allow(false, writesTo: old)
        // The connection that writes finds the new primary; those that read are still open to the old one.
        try await old.run(
            """
            SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
            WHERE query LIKE '%COMMIT%' AND pid <> pg_backend_pid()
            """
        )
        try await commit("notes/2", to: adapter)
        #expect(try await new.run("SELECT count(*) FROM keel.documents") == 2)
        #expect(try await ids(["notes/2"], in: adapter) == ["2"])
        try await allow(true, writesTo: old)
        new.stop()
        await expectError(StorageError.self, .unavailable) {
            try await adapter.read(ReadRequest(.documents(["notes/1"])))
        }
        let writeError = await expectError(StorageError.self, .unavailable) {
            try await adapter.commit([batch("notes/3")])
        }
        #expect(writeError?.effect == StorageError.Effect.none)
        await adapter.close()
    }

    // MARK: Other clusters

    @Test("A server of another cluster is used, although its timeline is lower")
    func followsToAnotherCluster() async throws {
        let other = try await PostgreSQLServer()
        defer { other.stop() }
        let first = try await self.adapter(on: other)
        try await commit("notes/other", to: first)
        await first.close()
        try await allow(false, writesTo: other)
        let (primary, standby) = try await PostgreSQLServer.pair()
        defer { for server in [standby, primary] { server.stop() } }
        let adapter = try await adapter(on: primary, standby, other)
        try await commit("notes/1", to: adapter)
        try await catchUp(standby, with: primary)
        primary.stop()
        try await standby.run("SELECT pg_promote()")
        try await commit("notes/2", to: adapter)
        #expect(try await ids(["notes/1", "notes/2"], in: adapter) == ["1", "2"])
        try await allow(true, writesTo: other)
        standby.stop()
        try await commit("notes/3", to: adapter)
        let paths: [DocumentPath] = ["notes/1", "notes/3", "notes/other"]
        #expect(try await ids(paths, in: adapter) == [nil, "3", "other"])
        await adapter.close()
    }

    @Test("A server of another cluster with another store under the same number is left alone")
    func refusesAnotherStore() async throws {
        let other = try await PostgreSQLServer()
        defer { other.stop() }
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.store = "b"
        let first = try await self.adapter(on: other, configuration: configuration)
        try await commit("notes/other", to: first)
        await first.close()
        try await allow(false, writesTo: other)
        let primary = try await PostgreSQLServer()
        defer { primary.stop() }
        let adapter = try await adapter(on: primary, other)
        try await commit("notes/1", to: adapter)
        primary.stop()
        try await allow(true, writesTo: other)
        let error = await expectError(StorageError.self, .corrupted) {
            try await commit("notes/2", to: adapter)
        }
        #expect(error?.effect == StorageError.Effect.none)
        let query = DocumentQuery("notes")
        for operation: ReadOperation in [
            .documents(["notes/other"]), .query(try QueryValidation.checked(query)),
        ] {
            await expectError(StorageError.self, .corrupted) {
                try await adapter.read(ReadRequest(operation))
            }
        }
        #expect(try await other.run("SELECT count(*) FROM keel.documents") == 1)
        await adapter.close()
    }

    @Test("A repeated commit succeeds only once a standby has the first one")
    func repeatsUnconfirmedCommits() async throws {
        let server = try await PostgreSQLServer(options: ["synchronous_standby_names=nobody"])
        defer { server.stop() }
        let local = server.url("keel", "?options=-c%20synchronous_commit%3Dlocal")
        let first = try await PostgreSQLStorageAdapter(at: .url(local))
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        // The second commit finds the receipt of the first one, the third one its document.
        for id in ["first", "first", nil] {
            let cancellation = Task {
                let cancel = """
                    SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
                    WHERE wait_event = 'SyncRep'
                    """
                try await waitUntil { try await server.run(cancel) ?? 0 > 0 }
            }
            let error = await expectError(StorageError.self, .unavailable) {
                try await adapter.commit([WriteBatch(id: id, batch("notes/1").writes)])[0].get()
            }
            #expect(error?.effect == .unknown)
            cancellation.cancel()
            _ = try? await cancellation.value
        }
        for adapter in [first, adapter] { await adapter.close() }
    }
}
#endif
