#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Plans of PostgreSQL")
struct PlanTests {
    /// Returns how often the server has scanned each table that grows with the documents.
    private func scans(_ owner: ConnectionThread) async throws -> [String: Int64] {
        try await owner.run { connection in
            let rows = try connection.run(
                DatabaseStatement(
                    """
                    SELECT relname::text, seq_scan FROM pg_stat_user_tables
                    WHERE schemaname = 'keel' AND relname NOT IN ('stores', 'indexes')
                    """
                )
            )
            return Dictionary(uniqueKeysWithValues: rows.map { ($0.text(0), $0.integer(1)) })
        }
    }

    /// Waits until no adapter has a session: the server counts the scans of a session when it ends.
    private func waitForSessions(_ owner: ConnectionThread) async throws {
        let others = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'keel'"
        while try await owner.run({ try $0.run(DatabaseStatement(others)).first?.integer(0) }) != 1
        {}
    }

    private func read(_ operation: ReadOperation, from adapter: PostgreSQLStorageAdapter)
        async throws
    {
        var request = ReadRequest(operation)
        request.needsPosition = true
        _ = try await adapter.read(request)
    }

    @Test("No statement scans a whole table, even before the server has statistics")
    func usesIndexes() async throws {
        let server = try await PostgreSQLServer(options: ["autovacuum=off"])
        defer { server.stop() }
        // The creation of the tables scans them for their indexes.
        let creator = try await PostgreSQLStorageAdapter.test(at: server.port) {
            $0.history = .seconds(3600)
        }
        await creator.close()
        let owner = try ConnectionThread.test(server.url(), answerLimit: .seconds(10))
        try await waitForSessions(owner)
        let before = try await scans(owner)
        let adapter = try await creator.another()
        #expect(before.keys.contains("documents") && before.keys.contains("entries"))

        try await adapter.prepare(
            StorageSchema(
                indexes: [
                    IndexDefinition("notes", [.ascending("n")]),
                    IndexDefinition("notes", scope: .group, [.descending("n")]),
                ],
                searches: [SearchDefinition("notes", fields: ["text"])]
            )
        )
        let start = try await adapter.changes(ChangeRequest()).next
        for round in 0..<3 {
            let batches = (0..<10).map { batch in
                let writes = (0..<30).map { number in
                    DocumentWrite(
                        DocumentPath("users/\(batch)/notes/\(number)"),
                        .set(
                            DocumentBody([
                                "n": .integer(Int64(number)),
                                "text": .string("word\(number) round\(round)"),
                            ])
                        )
                    )
                }
                return WriteBatch(
                    id: "\(round)/\(batch)",
                    writes,
                    origin: ChangeOrigin(client: "c", mutation: 1)
                )
            }
            for result in try await adapter.commit(batches) { _ = try result.get() }
        }
        let state = ReadRequest(.documents(["users/1/notes/1"]))
        _ = try await adapter.read(state)
        let time = try await adapter.read(
            {
                var request = state
                request.needsTime = true
                return request
            }()
        ).time
        _ = try await adapter.commit([
            WriteBatch([
                DocumentWrite("users/1/notes/1", .delete),
                DocumentWrite("users/1/notes/1", .set(DocumentBody(["n": .integer(1)]))),
            ])
        ])

        let notes = DocumentQuery("users/1/notes")
        let all = DocumentQuery(group: "notes")
        for query in [
            notes, notes.where(.equal("n", 3)), notes.order(by: "n").limit(to: 5),
            notes.offset(3).limit(to: 2),
            all, all.order(by: "n", .descending).limit(to: 5), all.limit(toLast: 3),
            DocumentQuery.everything(under: "users/1"), .everything(),
            notes.matching("word1 round2"), all.matching("word1 round*"),
            notes.where(.equal("text", "none")),
        ] {
            try await read(.query(query), from: adapter)
            try await read(.aggregate(query, [.count()]), from: adapter)
            var past = ReadRequest(.query(query))
            past.asOf = time
            _ = try await adapter.read(past)
        }
        try await read(.collections(under: nil), from: adapter)
        try await read(.collections(under: "users/1"), from: adapter)
        _ = try await adapter.changes(
            ChangeRequest(after: start, scope: .collections(["users/1/notes"]))
        )
        _ = try await adapter.changes(ChangeRequest(scope: .groups(["notes"])))

        await adapter.close()
        try await waitForSessions(owner)
        let after = try await scans(owner)
        #expect(after.filter { before[$0.key] != $0.value } == [:])
        await owner.close()
    }

    @Test("Commits and reads look up their rows, even before the server has statistics")
    func looksUpRows() async throws {
        let server = try await PostgreSQLServer(options: ["autovacuum=off"])
        defer { server.stop() }
        let owner = try ConnectionThread.test(server.url(), answerLimit: .seconds(10))
        func rowsRead() async throws -> Int64 {
            try await waitForSessions(owner)
            return try await server.run(
                """
                SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes
                WHERE relname IN ('changes', 'documents', 'entries', 'words')
                """
            ) ?? 0
        }
        func write(_ number: Int, _ value: Int) -> DocumentWrite {
            DocumentWrite(
                DocumentPath("notes/\(number)"),
                .set(DocumentBody(["n": .integer(Int64(value)), "text": .string("word\(value)")]))
            )
        }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        try await adapter.prepare(
            StorageSchema(
                indexes: [IndexDefinition("notes", [.ascending("n")])],
                searches: [SearchDefinition("notes", fields: ["text"])]
            )
        )
        for first in stride(from: 0, to: 2_000, by: 500) {
            let batch = WriteBatch((first..<first + 500).map { write($0, $0) })
            for result in try await adapter.commit([batch]) { _ = try result.get() }
        }
        await adapter.close()
        let before = try await rowsRead()

        let other = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        let batch = WriteBatch(
            (0..<100).map { write($0, $0 + 5_000) }
                + (100..<200).map { DocumentWrite(DocumentPath("notes/\($0)"), .delete) }
                + (2_000..<2_100).map { write($0, $0) }
        )
        for result in try await other.commit([batch]) { _ = try result.get() }
        let paths = (0..<100).map { DocumentPath("notes/\($0)") }
        _ = try await other.read(ReadRequest(.documents(paths)))
        // The last letter of this word has two spellings.
        for search in ["οδος", "οδος*", "word1 οδος", "οδος* wo*"] {
            let query = DocumentQuery("notes").matching(search)
            _ = try await other.read(ReadRequest(.query(query)))
        }
        await other.close()
        // A plan that reads a whole table reads 2,000 rows of it.
        #expect(try await rowsRead() - before < 2_000)
        await owner.close()
    }
}
#endif
