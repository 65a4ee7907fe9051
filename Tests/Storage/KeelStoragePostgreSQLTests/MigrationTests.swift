#if PostgreSQL
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Migration of PostgreSQL databases", .timeLimit(.minutes(10)))
struct MigrationTests {
    private func newDatabase() async throws -> PostgreSQLStorageLocation {
        let server = try await PostgreSQLServer.shared.value
        let name = "migrated_\(UInt32.random(in: 0 ... .max))"
        try await server.run("CREATE DATABASE \(name)")
        return .url(server.url(database: name))
    }

    private func run(_ sql: [String], in location: PostgreSQLStorageLocation) async throws {
        let settings = try ConnectionSettings(location, allowsUnverifiedServers: false)
        _ = try await ConnectionThread.during("test", settings, answerLimit: .seconds(30)) {
            try $0.run(sql.map { DatabaseStatement($0) }).count
        }
    }

    @Test("An empty database gets the tables, and a trial leaves it as it is")
    func creates() async throws {
        let location = try await newDatabase()
        let trial = try await PostgreSQLStorageAdapter.migrate(location, isDryRun: true)
        #expect((trial.from, trial.to) == (0, 2))
        #expect(trial.statements.contains { $0.hasPrefix("CREATE TABLE keel.documents") })
        let migration = try await PostgreSQLStorageAdapter.migrate(location)
        #expect(migration == trial)
        let again = try await PostgreSQLStorageAdapter.migrate(location)
        #expect((again.from, again.to, again.statements) == (2, 2, []))
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        #expect(try await adapter.checkIntegrity().isSound)
        await adapter.close()
    }

    @Test("Tables of an earlier program are completed, and commits go on")
    func upgrades() async throws {
        let location = try await newDatabase()
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        func set(_ id: String) async throws {
            let write = DocumentWrite(DocumentPath("a/\(id)"), .set(DocumentBody(["n": .null])))
            _ = try await adapter.commit([WriteBatch([write])])[0].get()
        }
        try await set("1")
        await adapter.close()
        try await run(RetentionTests.removals, in: location)
        let trial = try await PostgreSQLStorageAdapter.migrate(location, isDryRun: true)
        #expect((trial.from, trial.to) == (1, 2))
        #expect(!trial.statements.contains { $0.hasPrefix("CREATE TABLE keel.documents") })
        #expect(try await PostgreSQLStorageAdapter.migrate(location) == trial)
        let later = try await PostgreSQLStorageAdapter(at: location)
        #expect(try await later.changes(ChangeRequest()).changes.count <= 1)
        #expect(try await later.checkIntegrity() == .init(problems: [], documentCount: 1))
        await later.close()
    }

    @Test("Tables are completed once a dump has ended, and commits go on meanwhile")
    func waitsForDump() async throws {
        let location = try await newDatabase()
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        await adapter.close()
        try await run(RetentionTests.removals, in: location)
        let settings = try ConnectionSettings(location, allowsUnverifiedServers: false)
        let dump = try ConnectionThread("dump", settings, answerLimit: .seconds(30))
        let locking = [
            "SET idle_in_transaction_session_timeout = 0", "BEGIN",
            "LOCK TABLE keel.stores IN ACCESS SHARE MODE",
        ]
        _ = try await dump.run { try $0.run(locking.map { DatabaseStatement($0) }).count }
        // Far less than the time for which a program that completes the tables waits for an answer.
        let commit = try ConnectionThread("commit", settings, answerLimit: .seconds(10))
        await expectError(StorageError.self, .busy) {
            try await commit.run { try StoreTables.create($0, waiting: .zero) }
        }
        let completing = Task { try await PostgreSQLStorageAdapter.migrate(location) }
        let waiting = """
            SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'keel.stores'::regclass
            """
        try await waitUntil {
            let count = try await commit.run {
                try $0.run(DatabaseStatement(waiting)).first?.integer(0)
            }
            return count != 0
        }
        // As a commit of the earlier program does.
        let tails = "SELECT store FROM keel.stores FOR UPDATE"
        let count = try await commit.run { try $0.run(DatabaseStatement(tails)).count }
        #expect(count == 1)
        _ = try await dump.run { try $0.run(DatabaseStatement("COMMIT")).count }
        let migration = try await completing.value
        #expect((migration.from, migration.to) == (1, 2))
        for thread in [dump, commit] { await thread.close() }
    }

    /// The statements with which a program of the earlier version adds a document to the first collection.
    private func formerCommit(_ id: String, of store: Int64) -> [String] {
        func bytes(_ bytes: some Sequence<UInt8>) -> String {
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            return "decode('\(digits.joined())', 'hex')"
        }
        let body = DocumentBody(["n": .null]).bytes
        return [
            "BEGIN", "SELECT 1 FROM keel.stores WHERE store = \(store) FOR UPDATE",
            """
            INSERT INTO keel.documents(store, did, cid, id, rev, created, updated, body)
            SELECT store, documents + 1, 1, \(bytes(id.utf8)), seq + 1, seq + 1, seq + 1, \(bytes(body))
            FROM keel.stores WHERE store = \(store)
            """,
            """
            INSERT INTO keel.changes(store, seq, cid, id, rev, removed, mark)
            SELECT store, seq + 1, 1, \(bytes(id.utf8)), seq + 1, false, 42
            FROM keel.stores WHERE store = \(store)
            """,
            """
            UPDATE keel.stores SET seq = seq + 1, mark = 42, documents = documents + 1
            WHERE store = \(store)
            """,
            "COMMIT",
        ]
    }

    /// Removes all changes but the last one, as a program of the earlier version does.
    private func formerTrimming(of store: Int64) -> String {
        """
        WITH kept AS (SELECT max(seq) AS seq FROM keel.changes WHERE store = \(store)), gone AS (
            DELETE FROM keel.changes c USING kept WHERE c.store = \(store) AND c.seq < kept.seq
        )
        UPDATE keel.stores s SET trimmed = greatest(s.trimmed, kept.seq) FROM kept
        WHERE s.store = \(store)
        """
    }

    @Test("Programs of the earlier and of the present version write to one store, in turns")
    func sharesWithFormer() async throws {
        let location = try await newDatabase()
        var configuration = PostgreSQLStorageAdapter.Configuration()
        // Three changes, so that the log is compacted while both write.
        configuration.retention = .init(bytes: 3 * 44)
        let adapter = try await PostgreSQLStorageAdapter(at: location, configuration: configuration)
        let store = adapter.store.number
        var writes: Int64 = 0
        func set(_ id: String) async throws {
            writes += 1
            let body = DocumentBody(["n": .integer(writes)])
            let write = DocumentWrite(DocumentPath("a/\(id)"), .set(body))
            _ = try await adapter.commit([WriteBatch([write])])[0].get()
        }
        try await set("same")
        let start = try await adapter.changes(ChangeRequest()).next
        var request = ChangeRequest(after: start)
        for number in 0..<20 {
            try await run(formerCommit("old-\(number)", of: store), in: location)
            try await set("new-\(number)")
            try await set("same")
            let page = try await adapter.changes(request)
            #expect(page.changes.map(\.path.id) == ["old-\(number)", "new-\(number)", "same"])
            request.after = page.next
            try await adapter.trim()
        }
        #expect(try await StorageClient(adapter).getDocument("a/old-7")["n"] == .null)
        let all = try await adapter.changes(ChangeRequest(after: start)).changes.map(\.path.id)
        #expect(Set(all).count == 41)
        let sound = IntegrityReport(problems: [], documentCount: 41)
        #expect(try await adapter.checkIntegrity() == sound)

        try await run([formerTrimming(of: store)], in: location)
        await expectError(StorageError.self, .cursorExpired) {
            try await adapter.changes(ChangeRequest(after: start))
        }
        for _ in 0..<5 {
            try await set("same")
            try await adapter.trim()
        }
        let page = try await adapter.changes(request)
        #expect(Set(page.changes.map(\.path.id)) == ["same"])
        #expect(try await adapter.checkIntegrity() == sound)
        await adapter.close()
    }

    @Test("A program that is running writes nothing more to a store of a later one, and reads it")
    func stopsWriting() async throws {
        let location = try await newDatabase()
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        let write = DocumentWrite("a/1", .set(DocumentBody(["n": 1])))
        _ = try await adapter.commit([WriteBatch([write])])[0].get()
        try await run(["UPDATE keel.stores SET format = 99"], in: location)
        let error = await expectError(StorageError.self, .schemaTooNew) {
            try await adapter.commit([WriteBatch([DocumentWrite("a/1", .delete)])])[0].get()
        }
        #expect(error?.effect == StorageError.Effect.none)
        #expect(try await StorageClient(adapter).getDocument("a/1")["n"] == 1)
        #expect(try await adapter.changes(ChangeRequest()).changes.map(\.path) == ["a/1"])
        await adapter.close()
        await expectError(StorageError.self, .schemaTooNew) {
            try await PostgreSQLStorageAdapter(at: location)
        }
    }

    @Test("A store of a later program, and a role without rights, are refused")
    func refuses() async throws {
        let location = try await newDatabase()
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        await adapter.close()
        try await run(["UPDATE keel.stores SET format = 99"], in: location)
        await expectError(StorageError.self, .schemaTooNew) {
            try await PostgreSQLStorageAdapter.migrate(location)
        }
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        try await server.run("CREATE ROLE modest LOGIN")
        await expectError(StorageError.self, .permissionDenied) {
            try await PostgreSQLStorageAdapter.migrate(.url(server.url("modest")))
        }
    }

    @Test("Commits are ordered by a row, and not by advisory locks, which poolers grant twice")
    func locks() throws {
        let text = try PostgreSQLStorageAdapter.statementScript()
        #expect(text.contains("FOR UPDATE"))
        #expect(!text.contains("advisory"))
    }

    @Test("The script of the adapter's statements runs through psql without an error")
    func script() async throws {
        let text = try PostgreSQLStorageAdapter.statementScript()
        for part in ["CREATE TABLE keel.documents", "FOR UPDATE", "LISTEN keel", "pg_notify"] {
            #expect(text.contains(part), "\(part)")
        }
        let server = try await PostgreSQLServer.shared.value
        let database = "script_\(UInt32.random(in: 0 ... .max))"
        try await server.run("CREATE DATABASE \(database)")
        let location = PostgreSQLStorageLocation.url(server.url(database: database))
        let run = try await ProgramRun(
            URL(filePath: "/usr/bin/env"),
            ["psql", "--no-psqlrc", "--quiet", "--file=-", server.url(database: database)],
            input: Array(text.utf8)
        )
        #expect(run.exitCode == 0, "\(run.errors.prefix(2_000))")
        #expect(!run.errors.contains("ERROR"), "\(run.errors.prefix(2_000))")
        // The adapter reads the documents that the statements wrote.
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        let documents = try await StorageClient(adapter).queryDocuments(DocumentQuery("notes"))
        #expect(documents.map(\.id) == ["2"])
        #expect(documents.first?["text"] == "it's 2")
        await adapter.close()
        let second = try await ProgramRun(
            URL(filePath: "/usr/bin/env"),
            ["psql", "--no-psqlrc", "--quiet", "--file=-", server.url(database: database)],
            input: Array(text.utf8)
        )
        // In a database that is not empty, it ends at once.
        #expect(second.exitCode == 3)
    }
}
#endif
