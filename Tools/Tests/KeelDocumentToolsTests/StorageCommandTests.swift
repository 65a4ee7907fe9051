#if PostgreSQL && (os(Linux) || os(macOS))
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStoragePostgreSQL
import KeelStorageSQLite
import KeelToolsTestSupport
import Testing

@Suite("keel storage", .timeLimit(.minutes(10)))
struct StorageCommandTests {
    private let scratch: Scratch
    private let database: String

    init() throws {
        scratch = try Scratch()
        // The server trusts this role, so that any password is right.
        database = try PostgreSQLServer.shared.get().database(role: "keel:hunter2")
    }

    private func storage(_ arguments: [String]) throws -> (code: Int32, output: String) {
        let end = try KeelProcess(["storage"] + arguments, in: scratch.folder).wait()
        #expect(!(end.output + end.errors).contains("hunter2"), "\(arguments)")
        return (end.code, end.output + end.errors)
    }

    @Test("A database is migrated once, and a dry run prints the script that does it")
    func migrate() throws {
        let trial = try storage(["migrate", database, "--dry-run"])
        #expect(trial.code == 0)
        #expect(trial.output.hasPrefix("-- the tables are created, with version 2\nBEGIN;\n"))
        #expect(
            try storage(["doctor", database]).output.contains("The database has no tables of Keel")
        )
        // The printed script is the migration.
        let name = String(database.split(separator: "/").last ?? "")
        let file = try scratch.file("migration.sql", holding: trial.output)
        let psql = Process()
        psql.executableURL = URL(filePath: "/usr/bin/env")
        psql.arguments = [
            "psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--file", file.path,
            try PostgreSQLServer.shared.get().url(name),
        ]
        try psql.run()
        psql.waitUntilExit()
        #expect(psql.terminationStatus == 0)
        let done = try storage(["migrate", database])
        #expect(done.output == "the tables have version 2 already\n")
        let json = try storage(["migrate", database, "--json"])
        #expect(json.output == "{\"from\":2,\"to\":2}\n")
        let other = try PostgreSQLServer.shared.get().database()
        #expect(
            try storage(["migrate", other]).output == "the tables are created, with version 2\n"
        )
    }

    @Test("The doctor names what there is to do, also for programs")
    func doctor() async throws {
        let adapter = try await PostgreSQLStorageAdapter.opened(at: database, for: .creating)
        try await StorageClient(adapter).setDocument("notes/1", ["n": 1])
        await adapter.close()
        let result = try storage(["doctor", database])
        // The servers of tests do not wait for their disks.
        #expect(result.code == 2, "\(result.output)")
        #expect(result.output.contains("problem  durability: fsync is off"), "\(result.output)")
        #expect(result.output.contains("ok       store default: tables of version 2"))
        #expect(result.output.contains("ok       change log: 1 changes of "))
        let json = try storage(["doctor", database, "--json"])
        let lines = json.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("{") && $0.contains(#""state":"#) })
        #expect(lines.contains { $0.contains(#""state":"problem","subject":"durability""#) })
        let gone = try storage(["doctor", "postgres://keel@127.0.0.1:1/x"])
        #expect(gone.code == 2)
        #expect(
            gone.output.hasPrefix("problem  host 127.0.0.1:1: It cannot be used"),
            "\(gone.output)"
        )
    }

    @Test("Verification counts documents, and exits with 1 for a difference")
    func verify() async throws {
        let adapter = try await PostgreSQLStorageAdapter.opened(at: database, for: .creating)
        try await adapter.prepare(
            StorageSchema(indexes: [IndexDefinition("notes", [.ascending("n")])])
        )
        for number: Int64 in 1...3 {
            try await StorageClient(adapter)
                .setDocument(DocumentPath("notes/\(number)"), ["n": .integer(number)])
        }
        await adapter.close()
        let sound = try storage(["verify", database])
        #expect(sound.code == 0)
        #expect(sound.output == "3 documents, no differences\n")
        let name = String(database.split(separator: "/").last ?? "")
        try PostgreSQLServer.shared.get().run("DELETE FROM keel.entries WHERE did = 2", in: name)
        let damaged = try storage(["verify", database])
        #expect(damaged.code == 1)
        #expect(
            damaged.output == """
                the index 1 lacks an entry of “notes/2”
                the index 1 has 2 entries instead of 3
                3 documents, 2 differences

                """
        )
        let json = try storage(["verify", database, "--json"])
        #expect(json.code == 1)
        #expect(json.output.contains(#""documents":3"#))
        let missing = try storage(["verify", "postgres://keel@127.0.0.1:1/x"])
        #expect(missing.code == 2)
    }

    @Test("Doctor and verify work on a file, and migrate refuses it")
    func file() async throws {
        let path = scratch.file("notes.sqlite").path
        let adapter = try SQLiteStorageAdapter.opened(at: path, for: .creating)
        try await StorageClient(adapter).setDocument("notes/1", ["n": 1])
        try adapter.close()
        #expect(try storage(["verify", path]).output == "1 document, no differences\n")
        let doctor = try storage(["doctor", "sqlite:" + path])
        #expect(doctor.code == 0)
        #expect(doctor.output.contains("1 document, no corruption"))
        #expect(try storage(["migrate", path]).code == 64)
        #expect(try storage(["verify", "http://127.0.0.1:8080"]).code == 64)
        #expect(try storage(["verify", scratch.file("none.sqlite").path]).code == 2)
    }

    @Test("The statements run through psql")
    func statements() throws {
        let script = try storage(["statements", "postgresql"])
        #expect(script.code == 0)
        let name = String(database.split(separator: "/").last ?? "")
        let file = try scratch.file("statements.sql", holding: script.output)
        let psql = Process()
        psql.executableURL = URL(filePath: "/usr/bin/env")
        psql.arguments = [
            "psql", "--no-psqlrc", "--quiet", "--file", file.path,
            try PostgreSQLServer.shared.get().url(name),
        ]
        psql.standardOutput = FileHandle.nullDevice
        try psql.run()
        psql.waitUntilExit()
        #expect(psql.terminationStatus == 0)
        #expect(try storage(["statements", "oracle"]).code == 64)
    }
}
#endif
