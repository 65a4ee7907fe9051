#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL
import Testing

@Suite("Transactions on PostgreSQL that fail as they begin", .timeLimit(.minutes(10)))
struct FailedBeginningTests {
    /// A state of the database in which no transaction can begin, and how it comes and goes.
    struct Outage: Sendable {
        let begin: String
        let end: String
    }

    static let outages = [
        // The first statement of each transaction fails.
        Outage(
            begin: "ALTER TABLE keel.stores RENAME TO former",
            end: "ALTER TABLE keel.former RENAME TO stores"
        ),
        // The first statement finds nothing.
        Outage(
            begin: "UPDATE keel.stores SET name = 'former'::bytea",
            end: "UPDATE keel.stores SET name = 'default'::bytea"
        ),
    ]

    @Test("They leave the connection as it was, for reads and commits", arguments: outages)
    func goesOn(after outage: Outage) async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        func commit(_ path: DocumentPath) async throws {
            let write = DocumentWrite(path, .set(DocumentBody(["id": .string(path.id)])))
            _ = try await adapter.commit([WriteBatch([write])])[0].get()
        }
        func position() async throws -> ChangeCursor? {
            var request = ReadRequest(.documents(["notes/1"]))
            request.needsPosition = true
            return try await adapter.read(request).position
        }
        try await commit("notes/1")
        let cursor = try #require(try await position())
        try await server.run(outage.begin)
        await #expect(throws: StorageError.self) { try await position() }
        await #expect(throws: StorageError.self) {
            try await adapter.registerReader("reader", at: cursor)
        }
        try await server.run(outage.end)
        #expect(try await position() == cursor)
        try await commit("notes/2")
        try await adapter.registerReader("reader", at: cursor)
        await adapter.close()
    }
}
#endif
