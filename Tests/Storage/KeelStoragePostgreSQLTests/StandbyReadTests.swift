#if PostgreSQL
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Reads on standbys of PostgreSQL", .timeLimit(.minutes(10)))
struct StandbyReadTests {
    private let clock = TestClock()

    /// Runs a closure with a primary, a standby that has the first state of a document, and an adapter of both.
    private func withServers(
        _ body: (PostgreSQLServer, PostgreSQLServer, PostgreSQLStorageAdapter) async throws -> Void
    ) async throws {
        let (primary, standby) = try await PostgreSQLServer.pair()
        defer { for server in [standby, primary] { server.stop() } }
        let adapter = try await PostgreSQLStorageAdapter.test(at: primary.port, standby.port) {
            $0.clock = clock
        }
        do {
            try await write(1, to: adapter)
            try await FailoverTests().catchUp(standby, with: primary)
            try await body(primary, standby, adapter)
        } catch {
            await adapter.close()
            throw error
        }
        await adapter.close()
    }

    private func write(_ number: Int64, to adapter: some StorageAdapter) async throws {
        let write = DocumentWrite("notes/1", .set(DocumentBody(["n": .integer(number)])))
        for result in try await adapter.commit([WriteBatch([write])]) { _ = try result.get() }
    }

    private func request(allowing staleness: Duration?) -> ReadRequest {
        var request = ReadRequest(.documents(["notes/1"]))
        request.maximumStaleness = staleness
        return request
    }

    /// Returns the number in the document, by a read that allows some staleness.
    private func read(
        _ adapter: PostgreSQLStorageAdapter,
        allowing staleness: Duration?
    ) async throws -> Int64? {
        let result = try await adapter.read(request(allowing: staleness))
        guard case .documents(let found) = result.payload else { return nil }
        return try found.first??.fields()["n"]?.integerValue
    }

    /// Returns the number of reads that standbys answered, and of those that fell back to the primary.
    private func counts(of adapter: PostgreSQLStorageAdapter) -> [Int] {
        let (values, _) = adapter.counts.read()
        return [values.standbyReads, values.standbyFallbacks]
    }

    @Test("A standby answers reads of every kind that allow staleness, and no others")
    func answers() async throws {
        try await withServers { _, _, adapter in
            let storage = StorageClient(adapter)
            for staleness: Duration? in [nil, .zero, .milliseconds(99)] {
                #expect(try await read(adapter, allowing: staleness) == 1)
            }
            #expect(try await storage.count(DocumentQuery("notes")) == 1)
            #expect(counts(of: adapter) == [0, 0])
            var number = 0
            let recent = storage.allowingStaleness(of: .seconds(10))
            for _ in 0..<2 {
                #expect(try await read(adapter, allowing: .seconds(10)) == 1)
                #expect(try await recent.queryDocuments(DocumentQuery("notes")).count == 1)
                #expect(try await recent.count(DocumentQuery("notes")) == 1)
                #expect(try await recent.collections() == ["notes"])
                number += 4
                #expect(counts(of: adapter) == [number, 0])
            }
            let statistics = try await adapter.statistics()
            #expect(statistics.standbyReadCount == number)
            #expect(statistics.standbyFallbackCount == 0)
        }
    }

    @Test("A standby that is behind answers as long as its state is recent enough")
    func isBehind() async throws {
        try await withServers { primary, standby, adapter in
            #expect(try await read(adapter, allowing: .seconds(10)) == 1)
            try await standby.run("SELECT pg_wal_replay_pause()")
            try await write(2, to: adapter)
            await clock.advance(by: .seconds(4))
            #expect(try await read(adapter, allowing: .seconds(10)) == 1)
            #expect(counts(of: adapter) == [2, 0])
            #expect(try await read(adapter, allowing: nil) == 2)
            // A read that allows less asks the primary, which has the new state.
            #expect(try await read(adapter, allowing: .seconds(2)) == 2)
            #expect(counts(of: adapter) == [2, 1])
            await clock.advance(by: .seconds(7))
            #expect(try await read(adapter, allowing: .seconds(10)) == 2)
            #expect(counts(of: adapter) == [2, 2])
            try await standby.run("SELECT pg_wal_replay_resume()")
            try await FailoverTests().catchUp(standby, with: primary)
            #expect(try await read(adapter, allowing: .seconds(10)) == 2)
            #expect(counts(of: adapter) == [3, 2])
        }
    }

    @Test("A standby that still has tables that were replaced on the primary does not answer")
    func hasFormerTables() async throws {
        try await withServers { primary, standby, adapter in
            try await standby.run("SELECT pg_wal_replay_pause()")
            // The new tables have the store of an earlier time, as after the restoration of a dump.
            try await primary.run("DROP SCHEMA keel CASCADE")
            let other = try await PostgreSQLStorageAdapter(at: .url(primary.url()))
            await other.close()
            #expect(try await read(adapter, allowing: .seconds(10)) == nil)
            #expect(counts(of: adapter) == [0, 1])
            try await standby.run("SELECT pg_wal_replay_resume()")
        }
    }

    @Test("The primary answers what a standby cannot answer yet")
    func lacksIndex() async throws {
        try await withServers { primary, standby, adapter in
            #expect(try await read(adapter, allowing: .seconds(10)) == 1)
            try await standby.run("SELECT pg_wal_replay_pause()")
            let index = IndexDefinition("notes", [.ascending("n")])
            try await adapter.prepare(StorageSchema(indexes: [index]))
            let query = DocumentQuery("notes").where(.equal("n", 1))
            var request = ReadRequest(.query(try QueryValidation.checked(query)))
            request.isStrict = true
            request.maximumStaleness = .seconds(10)
            _ = try await adapter.read(request)
            #expect(counts(of: adapter) == [1, 1])
            try await standby.run("SELECT pg_wal_replay_resume()")
            try await FailoverTests().catchUp(standby, with: primary)
            _ = try await adapter.read(request)
            #expect(counts(of: adapter) == [2, 1])
            let other = DocumentQuery("notes").where(.equal("m", 1))
            request.operation = .query(try QueryValidation.checked(other))
            let refused = request
            await expectError(StorageError.self, .indexRequired) {
                _ = try await adapter.read(refused)
            }
        }
    }

    @Test("A listener goes on without a gap from the position of a standby’s state")
    func listens() async throws {
        try await withServers { _, standby, adapter in
            _ = try await read(adapter, allowing: .seconds(10))
            try await standby.run("SELECT pg_wal_replay_pause()")
            try await write(2, to: adapter)
            var request = request(allowing: .seconds(10))
            request.needsPosition = true
            request.needsTime = true
            let result = try await adapter.read(request)
            let found = try result.documents
            #expect(try found.first??.fields()["n"]?.integerValue == 1)
            let page = try await adapter.changes(ChangeRequest(after: result.position))
            #expect(page.changes.map(\.path) == ["notes/1"])
            let before = try #require(result.time)
            let after = try #require(page.time)
            #expect(before < after)
            #expect(counts(of: adapter) == [2, 0])
        }
    }

    @Test("A standby goes on with tables that were created anew, as for a restored dump")
    func recreation() async throws {
        try await withServers { primary, standby, adapter in
            #expect(try await read(adapter, allowing: .seconds(10)) == 1)
            try await primary.run(
                """
                DO $$ BEGIN
                    CREATE TABLE keel.copy (LIKE keel.stores INCLUDING ALL);
                    INSERT INTO keel.copy OVERRIDING SYSTEM VALUE SELECT * FROM keel.stores;
                    DROP TABLE keel.stores;
                    ALTER TABLE keel.copy RENAME TO stores;
                END $$
                """
            )
            try await FailoverTests().catchUp(standby, with: primary)
            for number in 2...3 {
                #expect(try await read(adapter, allowing: .seconds(10)) == 1)
                #expect(counts(of: adapter) == [number, 0])
            }
        }
    }

    @Test("The primary answers while no standby is reachable, and they are not tried for a while")
    func standbyEnds() async throws {
        try await withServers { _, standby, adapter in
            #expect(try await read(adapter, allowing: .seconds(10)) == 1)
            standby.stop()
            for number in 1...3 {
                #expect(try await read(adapter, allowing: .seconds(10)) == 1)
                #expect(counts(of: adapter) == [1, number])
            }
            let pool = try #require(adapter.standbys)
            #expect(try await pool.sighting(allowing: .seconds(60)) == nil)
            await clock.advance(by: .seconds(30))
            #expect(try await pool.sighting(allowing: .seconds(60)) != nil)
        }
    }

    @Test("Reads that waited for their turn do not try standbys that another read did not reach")
    func waitsForAbsentStandbys() async throws {
        var configuration = PostgreSQLStorageAdapter.Configuration()
        configuration.clock = clock
        let port = try await PostgreSQLServer.freePort()
        let settings = try ConnectionSettings(
            .url("postgres://keel@127.0.0.1:\(port)/postgres"),
            allowsUnverifiedServers: false
        )
        let primary = try ConnectionPool(
            settings,
            readerCount: 1,
            answerLimit: .seconds(30),
            clock: clock
        )
        let pool = try StandbyPool(
            settings,
            beside: primary,
            of: OpenStore(number: 1, epoch: 1),
            configuration
        )
        let tries = WorkCounts()
        // As reads do that have passed the check of `sighting` and waited for their turn.
        func read() async throws -> Int? {
            try await pool.reading(isQuick: true) { [tries] connection -> Int? in
                tries.countRead(isOnStandby: true)
                try connection.openIfNeeded()
                return 1
            }
        }
        for expected in [1, 1, 2] {
            if expected == 2 { await clock.advance(by: .seconds(30)) }
            #expect(try await read() == nil)
            #expect(tries.read().0.standbyReads == expected)
        }
        await pool.close()
        await primary.close()
    }

    @Test("Reads that allow enough staleness go on while there is no primary")
    func primaryEnds() async throws {
        try await withServers { primary, standby, adapter in
            #expect(try await read(adapter, allowing: .seconds(60)) == 1)
            primary.stop()
            let pauses: [Duration] = [.seconds(20), .seconds(20), .seconds(19)]
            for pause in pauses {
                await clock.advance(by: pause)
                #expect(try await read(adapter, allowing: .seconds(60)) == 1)
            }
            #expect(counts(of: adapter) == [4, 0])
            await expectError(StorageError.self, .unavailable) {
                try await read(adapter, allowing: nil)
            }
            await clock.advance(by: .seconds(2))
            await expectError(StorageError.self, .unavailable) {
                try await read(adapter, allowing: .seconds(60))
            }
            // The promoted standby is used as the primary only.
            try await standby.run("SELECT pg_promote()")
            try await write(2, to: adapter.retrying(.attempts(30)))
            #expect(try await read(adapter, allowing: .seconds(60)) == 2)
            #expect(counts(of: adapter) == [4, 2])
        }
    }

    @Test("A connection to a standby knows collections and indexes for itself")
    func hasCatalog() async throws {
        try await withServers { _, standby, _ in
            let url = standby.url(PostgreSQLServer.role, "?target_session_attrs=standby")
            let thread = try ConnectionThread.test(url)
            let (hasCatalog, timeline) = try await thread.run { connection in
                try connection.openIfNeeded()
                return (connection.catalog != nil, connection.timeline)
            }
            #expect(hasCatalog)
            #expect(timeline == nil)
            await thread.close()
        }
    }

    @Test("A standby to which a pooler passes a commit refuses it for the moment")
    func refusesCommits() async throws {
        try await withServers { _, standby, _ in
            let url = standby.url(PostgreSQLServer.role, "?target_session_attrs=standby")
            let thread = try ConnectionThread.test(url)
            let error = await expectError(StorageError.self, .unavailable) {
                try await thread.run { connection in
                    _ = try connection.run(CommitGroup.beginning(on: connection))
                }
            }
            #expect(error?.message.contains("accepts no writes") == true)
            await thread.close()
        }
    }

    @Test("Only a location with several hosts has standbys, and all its hosts may be one")
    func locations() throws {
        let one = try ConnectionSettings(
            .url("postgres://keel@127.0.0.1:1/x"),
            allowsUnverifiedServers: false
        )
        #expect(one.forStandbys()?.hosts == nil)
        let two = try ConnectionSettings(
            .url("postgres://keel@127.0.0.1:1,127.0.0.1:2/x?target_session_attrs=primary"),
            allowsUnverifiedServers: false
        )
        let standbys = try #require(two.forStandbys())
        #expect(Set(standbys.hosts.map { $0["port"] }) == ["1", "2"])
        #expect(standbys.hosts.allSatisfy { $0["target_session_attrs"] == "standby" })
    }
}
#endif
