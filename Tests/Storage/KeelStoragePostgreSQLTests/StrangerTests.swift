#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelStoragePostgreSQL

@Suite("PostgreSQL with transactions of other programs", .timeLimit(.minutes(10)))
struct StrangerTests {
    /// A transaction of a stranger that stays open.
    enum Stranger: String, CaseIterable {
        /// It has written to a table of its own.
        case writes
        /// It has read Keel's tables in a snapshot.
        case reads
        /// It is prepared, and belongs to no connection.
        case prepared

        var statements: [String] {
            let own = [
                "CREATE TABLE IF NOT EXISTS strangers(n bigint)", "BEGIN",
                "INSERT INTO strangers VALUES (1)",
            ]
            return switch self {
            case .writes: own
            case .reads:
                [
                    "BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT txid_current()",
                    "SELECT count(*) FROM keel.documents",
                ]
            case .prepared: own + ["PREPARE TRANSACTION 'stranger'"]
            }
        }

        var end: String { self == .prepared ? "ROLLBACK PREPARED 'stranger'" : "ROLLBACK" }
    }

    private func thread(to server: PostgreSQLServer) throws -> ConnectionThread {
        try .test(server.url(), answerLimit: .seconds(60))
    }

    private func run(_ statements: [String], on thread: ConnectionThread) async throws -> Int64 {
        try await thread.run { connection in
            // A stranger sets no time limit for its transactions.
            try connection.run(DatabaseStatement("SET idle_in_transaction_session_timeout = 0"))
            let rows = try connection.run(statements.map { DatabaseStatement($0) })
            return rows.last?.first?.integer(0) ?? 0
        }
    }

    private func batch(_ id: String) -> WriteBatch {
        let fields: DocumentFields = ["id": .string(id), "text": .string("the words of \(id)")]
        return WriteBatch([DocumentWrite(DocumentPath("notes/\(id)"), .set(DocumentBody(fields)))])
    }

    /// Reads changes until there are as many as expected, and returns the ids of the documents.
    private func follow(
        _ adapter: PostgreSQLStorageAdapter,
        after start: ChangeCursor,
        expecting count: Int
    ) async throws -> [String] {
        var ids: [String] = []
        var request = ChangeRequest(after: start, waitTimeout: .seconds(60))
        while ids.count < count {
            let page = try await adapter.changes(request)
            ids += page.changes.map(\.path.id)
            request.after = page.next
        }
        return ids
    }

    @Test(
        "A stranger's transaction stays open while commits and their readers go on",
        arguments: Stranger.allCases
    )
    func staysOpen(_ kind: Stranger) async throws {
        let server = try await PostgreSQLServer(options: ["max_prepared_transactions=2"])
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        let reader = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        _ = try await adapter.commit([batch("first")])[0].get()
        let start = try await reader.changes(ChangeRequest()).next
        let stranger = try thread(to: server)
        _ = try await run(kind.statements, on: stranger)
        let (writers, each) = (4, 100)
        async let followed = follow(reader, after: start, expecting: writers * each)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    for number in 0..<each {
                        _ = try await adapter.commit([batch("\(writer)-\(number)")])[0].get()
                    }
                }
            }
            try await group.waitForAll()
        }
        // All of them, while the transaction is still open.
        let ids = try await followed
        #expect(ids.count == writers * each)
        #expect(Set(ids).count == writers * each)
        #expect(try await run([kind.end], on: stranger) == 0)
        for adapter in [adapter, reader] { await adapter.close() }
        await stranger.close()
    }

    /// How long a dump takes in the test.
    static let dump = Duration.seconds(TestLength.count("KEEL_DUMP", 5, thorough: 60))

    @Test("A dump holds its snapshot while commits, trimming and builds of indexes go on")
    func dumps() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        var configuration = PostgreSQLStorageAdapter.Configuration()
        // Trimmed at once.
        configuration.retention = .init(bytes: 0)
        configuration.history = .seconds(3600)
        let location = PostgreSQLStorageLocation.url(server.url())
        let adapter = try await PostgreSQLStorageAdapter(at: location, configuration: configuration)
        let reader = try await PostgreSQLStorageAdapter(at: location, configuration: configuration)
        let writes = (0..<500).flatMap { batch("old-\($0)").writes }
        for _ in 0..<4 { _ = try await adapter.commit([WriteBatch(writes)])[0].get() }
        let start = try await reader.changes(ChangeRequest()).next
        let dump = try thread(to: server)
        let tables = "keel.stores, keel.documents, keel.entries, keel.changes, keel.history"
        let counted =
            "SELECT (SELECT count(*) FROM keel.documents) + (SELECT sum(rev) FROM keel.documents)::bigint"
        let before = try await run(
            [
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                "LOCK TABLE \(tables) IN ACCESS SHARE MODE", counted,
            ],
            on: dump
        )
        let deadline = ContinuousClock.now + Self.dump
        let schemas = [
            StorageSchema(indexes: [IndexDefinition("notes", [.descending("id")])]),
            StorageSchema(searches: [SearchDefinition("notes", fields: ["text"])]),
        ]
        let written = try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    var count = 0
                    while ContinuousClock.now < deadline || count == 0 {
                        _ = try await adapter.commit([batch("\(writer)-\(count)")])[0].get()
                        count += 1
                    }
                    return count
                }
            }
            group.addTask {
                var count = 0
                while ContinuousClock.now < deadline || count == 0 {
                    for schema in schemas {
                        try await reader.prepare(schema)
                        try await reader.finishIndexes()
                        try await reader.trim()
                        try await reader.dropIndexes(in: schema)
                    }
                    count += 1
                }
                print("\(count) builds of two indexes during a dump")
                return 0
            }
            return try await group.reduce(0, +)
        }
        print("\(written) commits during a dump of \(Self.dump)")
        // The dump still sees the state at its beginning, although the log behind it was compacted.
        #expect(try await run([counted], on: dump) == before)
        let ids = try await follow(reader, after: start, expecting: written)
        #expect(Set(ids).count == written)
        _ = try await run(["COMMIT"], on: dump)
        for schema in schemas { try await adapter.prepare(schema) }
        try await adapter.finishIndexes()
        let report = try await adapter.checkIntegrity()
        #expect(report == .init(problems: [], documentCount: 500 + written))
        for adapter in [adapter, reader] { await adapter.close() }
        await dump.close()
    }

    @Test("pg_dump copies a store while it is written to, and the copy is sound")
    func copies() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        let index = IndexDefinition("notes", [.ascending("id")])
        try await adapter.prepare(StorageSchema(indexes: [index]))
        let writes = (0..<200).flatMap { batch("old-\($0)").writes }
        _ = try await adapter.commit([WriteBatch(writes)])[0].get()
        // Canceling the task could end its last commit with an error.
        let isDumped = Mutex(false)
        let writing = Task {
            var count = 0
            while !isDumped.withLock({ $0 }) {
                _ = try await adapter.commit([batch("new-\(count)")])[0].get()
                count += 1
            }
            return count
        }
        let dump = try await PostgreSQLServer.program("pg_dump", ["--schema=keel", server.url()])
        isDumped.withLock { $0 = true }
        let written = try await writing.value
        try await server.run("CREATE DATABASE copied")
        let url = server.url(database: "copied")
        let options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file=-", url]
        _ = try await PostgreSQLServer.program("psql", options, dump)
        let copy = try await PostgreSQLStorageAdapter(at: .url(url))
        let report = try await copy.checkIntegrity()
        #expect(report.problems == [])
        #expect((200...200 + written).contains(report.documentCount))
        _ = try await copy.commit([batch("later")])[0].get()
        #expect(try await copy.checkIntegrity().documentCount == report.documentCount + 1)
        for adapter in [adapter, copy] { await adapter.close() }
    }
}
#endif
