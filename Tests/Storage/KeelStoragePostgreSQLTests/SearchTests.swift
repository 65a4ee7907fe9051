#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Text search in PostgreSQL", .timeLimit(.minutes(5)))
struct SearchTests {
    /// Returns how many statements that search for words the reading connection has run.
    private func searchCount(of adapter: PostgreSQLStorageAdapter) async throws -> Int64 {
        try await adapter.pool.reading { connection in
            let rows = try connection.run(
                // The text is joined, so that the statement does not count itself.
                DatabaseStatement(
                    """
                    SELECT sum(generic_plans + custom_plans)::bigint FROM pg_prepared_statements
                    WHERE statement LIKE '%keel' || '.words w%'
                    """
                )
            )
            return rows.first?.integer(0) ?? 0
        }
    }

    @Test("A search in a group of collections is one statement for each page of its result")
    func group() async throws {
        func oneReader(_ configuration: inout PostgreSQLStorageAdapter.Configuration) {
            configuration.readerCount = 1
        }
        try await PostgreSQLServer.withStore(oneReader) { adapter in
            let search = SearchDefinition("notes", fields: ["text"])
            try await adapter.prepare(StorageSchema(searches: [search]))
            let writes = (0..<200).map { number -> DocumentWrite in
                let text = number % 4 == 0 ? "rare" : "common"
                let path = DocumentPath("users/\(number / 4)/notes/\(number % 4)")
                return DocumentWrite(path, .set(DocumentBody(["text": .string(text)])))
            }
            _ = try await adapter.commit([WriteBatch(writes)])[0].get()
            let store = StorageClient(adapter)
            let group = DocumentQuery(group: "notes")

            #expect(try await store.queryDocuments(group.matching("rare")).count == 50)
            #expect(try await searchCount(of: adapter) == 1)
            // The first page has 64 documents, and the second one continues in the middle of a collection.
            let found = try await store.queryDocuments(group.matching("common"))
            #expect(Set(found.map(\.path)).count == 150)
            #expect(try await searchCount(of: adapter) == 3)
            let one = DocumentQuery(group: "notes", under: "users/7").matching("comm*")
            #expect(try await store.queryDocuments(one).map(\.id) == ["1", "2", "3"])
        }
    }
}
#endif
