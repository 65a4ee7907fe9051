#if PostgreSQL
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Round trips to PostgreSQL")
struct RoundTripTests {
    private let schema = StorageSchema(indexes: [
        IndexDefinition("notes", [.ascending("kind"), .ascending("n")])
    ])
    private let query = DocumentQuery("notes").where(.equal("kind", "odd"))
        .order(by: "n").limit(to: 2)

    private func fill(_ adapter: PostgreSQLStorageAdapter, from first: Int = 0) async throws {
        let writes = (first..<first + 6).map { number in
            let kind = number % 2 == 0 ? "even" : "odd"
            return DocumentWrite(
                DocumentPath("notes", "\(number)"),
                .set(DocumentBody(["kind": .string(kind), "n": .integer(Int64(number))]))
            )
        }
        _ = try await adapter.commit([WriteBatch(writes)])[0].get()
    }

    private func request(isStrict: Bool = false) -> ReadRequest {
        var request = ReadRequest(.query(query))
        request.needsPosition = true
        request.isStrict = isStrict
        return request
    }

    /// The names of the documents that the query finds.
    private func names(
        in adapter: PostgreSQLStorageAdapter,
        isStrict: Bool = false
    ) async throws -> [String] {
        try await adapter.read(request(isStrict: isStrict)).found.map(\.path.id)
    }

    /// Returns the number of round trips that the connection of the last read has made.
    private func count(_ adapter: PostgreSQLStorageAdapter) async throws -> Int {
        try await adapter.pool.reading(isQuick: true) { $0.exchangeCount }
    }

    @Test("A read of one page takes one round trip, also with its position")
    func pages() async throws {
        try await PostgreSQLServer.withStore { adapter in
            try await fill(adapter)
            try await adapter.prepare(schema)
            let paths: [DocumentPath] = ["notes/1", "notes/none"]
            var documents = ReadRequest(.documents(paths))
            documents.needsPosition = true
            let requests = [
                request(), documents, ReadRequest(.documents(paths)),
                ReadRequest(.documents(["notes/1"])), ReadRequest(.collections(under: nil)),
            ]
            // The first ones read the indexes and the number of the collection.
            for request in requests { _ = try await adapter.read(request) }
            for request in requests {
                let before = try await count(adapter)
                _ = try await adapter.read(request)
                #expect(try await count(adapter) == before + 1, "\(request.operation)")
            }
        }
    }

    @Test("A page of changes takes three round trips, and one without changes takes two")
    func changes() async throws {
        try await PostgreSQLServer.withStore { adapter in
            try await fill(adapter)
            // Later pages follow the log.
            let copy = try await adapter.changes(ChangeRequest())
            #expect(copy.isCaughtUp)
            var request = ChangeRequest(after: copy.next)
            for expected in [2, 2, 3] {
                if expected == 3 { try await fill(adapter, from: 6) }
                let before = try await count(adapter)
                let page = try await adapter.changes(request)
                #expect(try await count(adapter) == before + expected)
                #expect(page.changes.count == (expected == 3 ? 6 : 0))
                request.after = page.next
            }
        }
    }

    @Test("A read with indexes that another adapter has replaced runs again with the new ones")
    func outdatedIndexes() async throws {
        try await PostgreSQLServer.withStore { adapter in
            try await fill(adapter)
            try await adapter.prepare(schema)
            #expect(try await names(in: adapter) == ["1", "3"])
            let url = try await PostgreSQLServer.shared.value.url()
            let other = try await PostgreSQLStorageAdapter(
                at: .url(url),
                configuration: adapter.configuration
            )
            try await other.dropIndexes(in: schema)
            #expect(try await names(in: adapter) == ["1", "3"])
            _ = await expectError(StorageError.self, .indexRequired) {
                try await names(in: adapter, isStrict: true)
            }
            // This read needs no statement before it fails for lack of an index.
            try await other.prepare(schema)
            #expect(try await names(in: adapter, isStrict: true) == ["1", "3"])
            await other.close()
        }
    }

    @Test("A statement after a read can be canceled, and the connection goes on")
    func canceled() async throws {
        try await PostgreSQLServer.withStore { adapter in
            try await fill(adapter)
            let url = try await PostgreSQLServer.shared.value.url()
            let thread = try ConnectionThread.test(url, answerLimit: .seconds(10))
            let store = adapter.store
            func sequence() async throws -> Int64 {
                try await thread.run { connection in
                    try connection.transaction(reading: TableSnapshot(connection, store)) {
                        try $0.tail().sequence
                    }
                }
            }
            // The first read prepares the statements; the answer to the end of the second is not taken.
            let expected = try await sequence()
            #expect(try await sequence() == expected)
            let began = Gate()
            let statement = Task {
                try await thread.run { connection in
                    began.open()
                    return try connection.run(DatabaseStatement("SELECT 1 FROM pg_sleep(60)")).count
                }
            }
            try await began.pass()
            statement.cancel()
            _ = await expectError(StorageError.self, .cancelled) { try await statement.value }
            #expect(try await sequence() == expected)
            #expect(try await thread.run { $0.openCount } == 1)
            await thread.close()
        }
    }
}
#endif
