#if PostgreSQL && (os(Linux) || os(macOS))
import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL
import KeelStorageSQLite
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Synchronization
import Testing

@Suite("Documents in PostgreSQL", .timeLimit(.minutes(30)))
struct PostgreSQLStoreTests {
    private let scratch: Scratch
    private let database: String

    init() throws {
        scratch = try Scratch()
        // The server trusts this role, so that any password is right.
        database = try PostgreSQLServer.shared.get().database(role: "keel:hunter2")
    }

    private func documents(_ arguments: [String]) throws -> (code: Int32, output: String) {
        let end = try KeelProcess(["documents"] + arguments, in: scratch.folder).wait()
        #expect(!(end.output + end.errors).contains("hunter2"), "\(arguments)")
        return (end.code, end.output + end.errors)
    }

    // MARK: Commands

    @Test("Every command that opens a database takes --unverified-database, also from settings")
    func unverified() throws {
        // An address that counts as another machine, where nothing listens.
        let place = "postgres://keel:hunter2@0.0.0.0:1/x?sslmode=require"
        let file = scratch.file("s.sqlite").path
        let indexes = try scratch.file("indexes.json", holding: "{}").path
        let get = ["documents", "get", "c/a", "--storage", place]
        for arguments in [
            get, ["documents", "diff", place, file], ["documents", "copy", place, file],
            ["documents", "indexes", "import", indexes, "--storage", place],
            ["storage", "verify", place], ["doctor", "--storage", place],
        ] {
            let refused = try KeelProcess(arguments, in: scratch.folder).wait()
            let text = refused.output + refused.errors
            #expect(text.contains("KEEL_UNVERIFIED_DATABASE=true"), "\(arguments): \(text)")
            let allowed = try KeelProcess(arguments + ["--unverified-database"], in: scratch.folder)
                .wait()
            let reached = allowed.output + allowed.errors
            #expect(reached.contains("cannot be reached"), "\(arguments): \(reached)")
            #expect(!(text + reached).contains("hunter2"))
        }
        _ = try scratch.file("keel.toml", holding: "unverified-database = true\n")
        let set = try KeelProcess(get, in: scratch.folder).wait()
        #expect(set.errors.contains("cannot be reached"), "\(set.errors)")
    }

    @Test("The commands work on a database as on a file")
    func commands() throws {
        let store = ["--storage", database]
        #expect(try documents(["set", "c/a", #"{"v":1}"#] + store).code == 0)
        #expect(try documents(["get", "c/a", "--plain"] + store).output == "{\"v\":1}\n")
        let file = try scratch.file(
            "in",
            holding: "{\"id\":\"b\",\"v\":2}\n{\"id\":\"d\",\"v\":3}\n"
        )
        let importing = ["import", file.path, "c", "--id", "id"]
        #expect(try documents(importing + store).output == "2 documents imported\n")
        #expect(
            try documents(["query", "c", "--where", "v >= 2", "--count"] + store).output == "2\n"
        )
        let export = try documents(["export", "c", "--plain"] + store)
        #expect(export.output.split(separator: "\n").count == 3, "\(export.output)")
        let shell = try KeelProcess(
            ["documents", "shell"] + store,
            input: "ls\ncount c\nget c/a --plain\n",
            in: scratch.folder
        ).wait()
        #expect(shell.code == 0, "\(shell.errors)")
        #expect(!(shell.output + shell.errors).contains("hunter2"))
        #expect(shell.output == "c/\n3\n{\"v\":1}\n", "\(shell.output)")
        #expect(try documents(["delete", "c/a", "--yes"] + store).code == 0)
        #expect(try documents(["get", "c/a"] + store).code == 1)
        let doctor = try KeelProcess(["doctor", "--storage", database]).wait()
        #expect(doctor.output.contains("2 documents, no corruption"), "\(doctor.output)")
        #expect(!doctor.output.contains("hunter2"))
    }

    @Test("Reading, changing and comparing leave a database without a store as it is")
    func missing() throws {
        let store = ["--storage", database]
        for command in [["get", "c/a"], ["query", "c"], ["delete", "c/a", "--yes"]] {
            let result = try documents(command + store)
            #expect(result.code == 1)
            #expect(result.output.contains("has no Keel store “default”"), "\(result.output)")
            #expect(result.output.contains("set and copy create one"), "\(result.output)")
        }
        #expect(try documents(["set", "c/a", "{}"] + store).code == 0)
        #expect(try documents(["get", "c/a", "--plain"] + store).output == "{}\n")
    }

    @Test("Watching shows another process's changes")
    func watching() throws {
        let store = ["--storage", database]
        #expect(try documents(["set", "c/a", #"{"v":1}"#] + store).code == 0)
        let watch = try KeelProcess(["documents", "watch", "c", "--json"] + store)
        #expect(watch.nextLine().contains(#"{"change":"added","path":"c/a","#))
        #expect(try documents(["set", "c/b", #"{"v":2}"#] + store).code == 0)
        #expect(watch.nextLine().contains(#"{"change":"added","path":"c/b","#))
        watch.interrupt()
        #expect(watch.wait().code == 0)
    }

    @Test("The indexes of a database are listed and deleted by name")
    func indexes() async throws {
        let adapter = try await PostgreSQLStorageAdapter.opened(at: database, for: .creating)
        let index = IndexDefinition("notes", [.ascending("n")])
        try await adapter.prepare(StorageSchema(indexes: [index]))
        await adapter.close()
        let store = ["--storage", database]
        #expect(try documents(["indexes", "list"] + store).output == "notes(n+)  ready\n")
        #expect(
            try documents(["indexes", "delete", "notes(n+)"] + store).output == "1 index deleted\n"
        )
        #expect(try documents(["indexes", "list"] + store).output == "")
    }

    // MARK: Copies

    @Test("A copy from SQLite to PostgreSQL and back preserves every byte, time and revision")
    func roundTrip() async throws {
        let (from, to) = (scratch.file("a.sqlite").path, scratch.file("b.sqlite").path)
        let source = try SQLiteStorageAdapter.opened(at: from, for: .creating)
        try await Samples.fill(source, count: 40)
        let client = StorageClient(source)
        for number: Int64 in 1...3 { try await client.setDocument("c/d5", ["n": .integer(number)]) }
        try await client.deleteDocument("c/d2")
        let there = try documents(["copy", from, database, "--quiet"])
        #expect(there.code == 0, "\(there.output)")
        #expect(there.output.contains("with their times and revisions"))
        let back = try documents(["copy", database, to, "--quiet"])
        #expect(back.code == 0, "\(back.output)")
        #expect(back.output.contains("with their times and revisions"))
        #expect(try documents(["diff", from, database]).code == 0)
        let copied = try SQLiteStorageAdapter.opened(at: to, for: .reading)
        for collection: CollectionPath in ["c", "other", "c/d1/below", "c/d40/below"] {
            let (before, after) = (
                try await source.all(collection), try await copied.all(collection)
            )
            #expect(!before.isEmpty)
            #expect(before == after)
            #expect(before.map(\.body.bytes) == after.map(\.body.bytes))
        }
        #expect(
            try await StorageClient(copied).queryDocuments(DocumentQuery(group: "c")).count == 40
        )
        try source.close()
        try copied.close()
    }

    @Test(
        "An interrupted copy resumes, follows what changed meanwhile, and compares both stores",
        arguments: [true, false]
    )
    func resumption(_ isSource: Bool) async throws {
        let file = try scratch.store()
        let server = try await PostgreSQLStorageAdapter.opened(at: database, for: .creating)
        if isSource {
            try await resume(from: server, to: file)
        } else {
            try await resume(from: file, to: server)
        }
        await server.close()
        try file.close()
    }

    private func resume(
        from source: some StorageAdapter,
        to target: some StorageAdapter
    ) async throws {
        try await Samples.fill(source, count: 30)
        let check = scratch.file("check")
        await #expect(throws: StorageError.self) {
            let failing = target.failing([nil, .loseReply()])
            _ = try await DocumentCopy(from: source, to: failing, pageSize: 10)
                .run(from: CopyCheckpoint(subject: "x"), checkpoint: check)
        }
        let start = try #require(try CopyCheckpoint.read(check, of: "x"))
        #expect(start.copied > 0)
        let client = StorageClient(source)
        try await client.setDocument("c/late", ["late": true])
        try await client.deleteDocument("c/d1")
        let report = try await DocumentCopy(from: source, to: target, pageSize: 10)
            .run(from: start, checkpoint: check)
        #expect(report.isVerified)
        #expect(report.keepsTimes)
        let (before, after) = (try await source.all("c"), try await target.all("c"))
        #expect(before == after)
        #expect(before.contains { $0.id == "late" })
    }

    @Test("An app moves to PostgreSQL while it writes: a mirror, a copy, and the same documents")
    func moving() async throws {
        let file = scratch.file("notes.sqlite").path
        let sqlite = try SQLiteStorageAdapter.opened(at: file, for: .creating)
        try await Samples.fill(sqlite, count: 200)
        let server = try await PostgreSQLStorageAdapter.opened(at: database, for: .creating)
        let events = EventCount()
        let mirrored = sqlite.mirrored(to: server) { _ in events.add() }
        let app = StorageClient(mirrored)
        let isCopied = EventCount()
        let writer = Task {
            // Existing documents, new ones, and removed ones, until the copy has ended.
            var number = 0
            while isCopied.count == 0 || number < 100 {
                try await app.setDocument(
                    DocumentPath("c/d\(number % 300)"),
                    ["n": .integer(Int64(number))]
                )
                if number % 7 == 0 {
                    try await app.deleteDocument(DocumentPath("c/d\(number % 200)"))
                }
                number += 1
            }
            return number
        }
        let copy = try documents(["copy", file, database, "--quiet"])
        isCopied.add()
        let writes = try await writer.value
        #expect(writes >= 100)
        // The comparison at the end finds differences if the app writes meanwhile.
        #expect([0, 2].contains(copy.code), "\(copy.output)")
        #expect(mirrored.waitingCount == 0)
        #expect(events.count == 0)
        let difference = try documents(["diff", file, database])
        #expect(difference.code == 0, "\(difference.output)")
        let (before, after) = (try await sqlite.all("c"), try await server.all("c"))
        #expect(before == after)
        #expect(before.count > 150)
        await server.close()
        try sqlite.close()
    }

    private final class EventCount: Sendable {
        private let value = Atomic(0)

        var count: Int { value.load(ordering: .sequentiallyConsistent) }

        func add() { value.add(1, ordering: .sequentiallyConsistent) }
    }

    @Test("A place is described without its password")
    func descriptions() throws {
        let place = try #require(DocumentPlace("postgres://keel:hunter2@127.0.0.1/x"))
        #expect(place.description == "postgres://keel:…@127.0.0.1/x")
        #expect(place.argument == "postgres://keel:hunter2@127.0.0.1/x")
        #expect(DocumentPlace("postgresql://") == .postgreSQL(url: "postgresql://"))
    }

    @Test(
        "Passwords are hidden in any text",
        arguments: [
            ("postgres://u:hunter2@h:5432/d", "postgres://u:…@h:5432/d"),
            ("no store at “postgresql://u:a/hunter2@b@h/d”", "no store at “postgresql://u:…@h/d”"),
            ("mysql://u:hunter2@h/d?x=1", "mysql://u:…@h/d?x=1"),
            ("https://u:hunter2@h/a@b", "https://u:…@h/a@b"),
            ("postgres://h/d?user=u&password=hunter2&x=1", "postgres://h/d?user=u&password=…&x=1"),
            ("http://127.0.0.1:8080/a@b", "http://127.0.0.1:8080/a@b"),
            ("postgres://u@h:5432/d", "postgres://u@h:5432/d"),
        ]
    )
    func hiding(_ text: String, _ hidden: String) {
        #expect(Passwords.hidden(in: text) == hidden)
        #expect(Passwords.hidden(in: hidden) == hidden)
    }
}
#endif
