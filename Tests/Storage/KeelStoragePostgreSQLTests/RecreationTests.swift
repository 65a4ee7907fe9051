#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL
import KeelTestSupport
import Testing

@Suite("PostgreSQL with tables that are created anew under an adapter", .timeLimit(.minutes(5)))
struct RecreationTests {
    private func commit(
        _ paths: DocumentPath...,
        to adapter: PostgreSQLStorageAdapter
    ) async throws {
        for path in paths {
            let write = DocumentWrite(path, .set(DocumentBody(["id": .string(path.id)])))
            _ = try await adapter.commit([WriteBatch([write])])[0].get()
        }
    }

    /// Returns the paths at which there are documents.
    private func found(
        _ paths: [DocumentPath],
        in adapter: PostgreSQLStorageAdapter
    ) async throws -> [DocumentPath] {
        let result = try await adapter.read(ReadRequest(.documents(paths)))
        guard case .documents(let documents) = result.payload else { return [] }
        return documents.compactMap { $0?.path }
    }

    private func restore(_ dump: [UInt8], on server: PostgreSQLServer) async throws {
        let options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file=-"]
        _ = try await PostgreSQLServer.program("psql", options + [server.url()], dump)
    }

    @Test("Documents are written to the right collections of tables that another process created")
    func created() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let location = PostgreSQLStorageLocation.url(server.url())
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        try await commit("a/1", "b/1", to: adapter)
        #expect(try await found(["a/1", "b/1"], in: adapter) == ["a/1", "b/1"])
        try await server.run("DROP SCHEMA keel CASCADE")
        let other = try await PostgreSQLStorageAdapter(at: location)
        try await commit("b/2", to: other)
        // The number of the collection a is now that of b.
        try await commit("a/3", to: adapter)
        let paths: [DocumentPath] = ["a/1", "a/2", "a/3", "b/1", "b/2", "b/3"]
        for adapter in [adapter, other] {
            #expect(try await found(paths, in: adapter) == ["a/3", "b/2"])
        }
        for adapter in [adapter, other] { await adapter.close() }
    }

    @Test("A store is unavailable while its tables are missing, and then goes on")
    func missing() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let location = PostgreSQLStorageLocation.url(server.url())
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        try await commit("a/1", to: adapter)
        #expect(try await found(["a/1"], in: adapter) == ["a/1"])
        try await server.run("DROP SCHEMA keel CASCADE")
        await expectError(StorageError.self, .unavailable) { try await found(["a/1"], in: adapter) }
        await expectError(StorageError.self, .unavailable) {
            try await adapter.changes(ChangeRequest())
        }
        await expectError(StorageError.self, .unavailable) { try await commit("a/2", to: adapter) }
        let other = try await PostgreSQLStorageAdapter(at: location)
        try await commit("a/3", to: adapter)
        #expect(try await found(["a/1", "a/2", "a/3"], in: adapter) == ["a/3"])
        for adapter in [adapter, other] { await adapter.close() }
    }

    @Test("A store is unavailable while a restored dump has only the tables, and then goes on")
    func empty() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter(at: .url(server.url()))
        try await commit("a/1", to: adapter)
        #expect(try await found(["a/1"], in: adapter) == ["a/1"])
        var parts: [[UInt8]] = []
        for part in ["--schema-only", "--data-only"] {
            let options = ["--schema=keel", part, server.url()]
            parts.append(try await PostgreSQLServer.program("pg_dump", options))
        }
        try await server.run("DROP SCHEMA keel CASCADE")
        try await restore(parts[0], on: server)
        for _ in 0..<2 {
            await expectError(StorageError.self, .unavailable) {
                try await commit("a/2", to: adapter)
            }
            await expectError(StorageError.self, .unavailable) {
                try await adapter.changes(ChangeRequest())
            }
            await expectError(StorageError.self, .unavailable) {
                try await found(["a/1"], in: adapter)
            }
        }
        try await restore(parts[1], on: server)
        try await commit("a/3", to: adapter)
        #expect(try await found(["a/1", "a/2", "a/3"], in: adapter) == ["a/1", "a/3"])
        await adapter.close()
    }

    @Test("Single documents are read from the right collections of tables that are created anew")
    func readAlone() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let location = PostgreSQLStorageLocation.url(server.url())
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        try await commit("a/1", "b/1", to: adapter)
        let reads: [[DocumentPath]] = [["a/2"], ["b/2"], ["a/2", "b/2"]]
        for (round, paths) in reads.enumerated() {
            // The adapter knows the numbers that the collections have in the tables.
            #expect(try await found(["a/1"], in: adapter) == ["a/1"])
            try await server.run("DROP SCHEMA keel CASCADE")
            let other = try await PostgreSQLStorageAdapter(at: location)
            // The first collection gets the number 1, so that the two exchange their numbers in each round.
            let order: [DocumentPath] = round % 2 == 0 ? ["b/2", "a/1"] : ["a/1", "b/2"]
            for path in order { try await commit(path, to: other) }
            await other.close()
            #expect(try await found(paths, in: adapter) == paths.filter { $0 == "b/2" })
            #expect(try await found(order, in: adapter) == order)
        }
        await adapter.close()
    }

    @Test("A cursor of a change that a restored dump lacks expires, although the adapter runs on")
    func restored() async throws {
        let server = try await PostgreSQLServer()
        defer { server.stop() }
        let adapter = try await PostgreSQLStorageAdapter.test(at: server.port) {
            // Compacted at once.
            $0.retention = .init(bytes: 0)
        }
        try await commit("a/1", to: adapter)
        let dump = try await PostgreSQLServer.program("pg_dump", ["--schema=keel", server.url()])
        try await commit("a/2", to: adapter)
        let lost = try await adapter.changes(ChangeRequest()).next
        try await server.run("DROP SCHEMA keel CASCADE")
        try await restore(dump, on: server)
        try await commit("a/3", "a/4", to: adapter)
        try await adapter.trim()
        #expect(try await found(["a/1", "a/2", "a/3"], in: adapter) == ["a/1", "a/3"])
        await expectError(StorageError.self, .cursorExpired) {
            try await adapter.changes(ChangeRequest(after: lost))
        }
        await adapter.close()
    }
}
#endif
