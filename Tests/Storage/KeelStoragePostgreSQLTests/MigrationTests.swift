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
        let error = await #expect(throws: StorageError.self) {
            try await commit.run { try StoreTables.create($0, waiting: .zero) }
        }
        #expect(error?.code == .busy)
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

    @Test("A store of a later program, and a role without rights, are refused")
    func refuses() async throws {
        let location = try await newDatabase()
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        await adapter.close()
        try await run(["UPDATE keel.stores SET format = 99"], in: location)
        let newer = await #expect(throws: StorageError.self) {
            try await PostgreSQLStorageAdapter.migrate(location)
        }
        #expect(newer?.code == .schemaTooNew)
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        try await server.run("CREATE ROLE modest LOGIN")
        let refused = await #expect(throws: StorageError.self) {
            try await PostgreSQLStorageAdapter.migrate(.url(server.url("modest")))
        }
        #expect(refused?.code == .permissionDenied)
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
