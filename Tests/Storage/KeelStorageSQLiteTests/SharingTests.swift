#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Several adapters on one file")
struct SharingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("each adapter immediately reads the commits of the other")
    func sees() async throws {
        let (one, other) = (try folder.adapter(), try folder.adapter())
        #expect(try await other.document("a/1") == nil)
        try await one.set("a/1", ["n": 1])
        #expect(try await other.document("a/1")?["n"] == 1)
        try await other.delete("a/1")
        #expect(try await one.document("a/1") == nil)
    }

    @Test("each adapter maintains the indexes declared by the other")
    func maintainsForeignIndexes() async throws {
        let (one, other) = (try folder.adapter(), try folder.adapter())
        try await one.set("a/0", ["n": 0, "m": 9])
        try await one.prepare(StorageSchema(indexes: [IndexDefinition("a", [.ascending("n")])]))
        // Neither adapter knows the other's index.
        try await other.prepare(StorageSchema(indexes: [IndexDefinition("a", [.descending("m")])]))
        for number in 1..<20 {
            let writer = number % 2 == 0 ? one : other
            try await writer.set(
                "a/\(number)",
                ["n": .integer(Int64(number % 7)), "m": .integer(Int64(number % 5))]
            )
        }
        try await other.set("a/3", ["n": 100])
        try await other.delete("a/4")
        for adapter in [one, other] {
            let (byN, plan) = try await adapter.found(DocumentQuery("a").order(by: "n"))
            #expect(plan?.access == .index("a(n+)"))
            #expect(byN.count == 19)
            #expect(byN.last?.id == "3")
            let (byM, other) = try await adapter.found(
                DocumentQuery("a").order(by: "m", .descending)
            )
            #expect(other?.access == .index("a(m-)"))
            #expect(byM.count == 18)
        }
        #expect(try await one.checkIntegrity().isSound)
    }

    @Test("a running program writes nothing more to a file of a later version, and reads it")
    func stopsWriting() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("a/1", ["n": 1])
        let cursor = try await adapter.allChanges().next
        // As a later version does that opens the file.
        let later = try DatabaseQueue(path: folder.file().path)
        try await later.write { try $0.execute(sql: "PRAGMA user_version = 99") }
        try later.close()
        let schema = StorageSchema(indexes: [IndexDefinition("a", [.ascending("n")])])
        let errors = [
            await storageError { try await adapter.delete("a/1") },
            await storageError { try await adapter.prepare(schema) },
            await storageError { try await adapter.registerReader("reader", at: cursor) },
        ]
        for error in errors {
            #expect(error?.code == .schemaTooNew)
            #expect(error?.effect == StorageError.Effect.none)
        }
        #expect(try await adapter.document("a/1")?["n"] == 1)
        #expect(try await adapter.allChanges().changes.map(\.path) == ["a/1"])
    }

    @Test("two adapters that build the same index concurrently build it once")
    func buildsOnce() async throws {
        let (one, other) = (try folder.adapter(), try folder.adapter())
        let writes = (0..<2_500).map { number in
            DocumentWrite("a/\(number)", .set(DocumentBody(["n": .integer(Int64(number % 100))])))
        }
        try await one.apply(WriteBatch(writes))
        let schema = StorageSchema(
            indexes: [IndexDefinition("a", [.ascending("n")])],
            searches: [SearchDefinition("a", fields: ["n"])]
        )
        async let first: Void = one.prepare(schema)
        async let second: Void = other.prepare(schema)
        _ = try await (first, second)
        #expect(try await one.checkIntegrity() == .init(problems: [], documentCount: 2_500))
        #expect(try await other.ids(DocumentQuery("a").where(.equal("n", 5))).count == 25)
    }

    @Test("a partially built index is unused, maintained and finished later")
    func resumesBuilding() async throws {
        let adapter = try folder.adapter()
        let writes = (0..<1_500).map { number in
            DocumentWrite("a/\(number)", .set(DocumentBody(["n": .integer(Int64(number % 10))])))
        }
        try await adapter.apply(WriteBatch(writes))
        let schema = StorageSchema(indexes: [IndexDefinition("a", [.ascending("n")])])
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await adapter.prepare(schema)
        }
        #expect(await storageError { try await cancelled.value }?.code == .cancelled)
        // The state after a process was killed following the first step.
        try await adapter.databasePool.write { database in
            try database.execute(
                sql: "UPDATE indexes SET built = 0; UPDATE state SET generation = generation + 1"
            )
        }
        try await adapter.set("a/3", ["n": 77])
        let query = DocumentQuery("a").where(.equal("n", 77))
        #expect(try await adapter.ids(query) == ["3"])
        let other = try folder.adapter()
        try await other.prepare(schema)
        #expect(try await adapter.found(query).plan?.access == .index("a(n+)"))
        #expect(try await adapter.ids(query) == ["3"])
        #expect(try await other.checkIntegrity().isSound)
    }
}
#endif
