#if SQLite
import GRDB
import KeelStorage
import KeelStorageAdapting
import Testing

@testable import KeelStorageSQLite

@Suite("Building and dropping indexes", .timeLimit(.minutes(5)))
struct IndexBuildTests {
    private static let plain = IndexDefinition("a", [.ascending("n")])
    private static let group = IndexDefinition("a", scope: .group, [.contains("tags")])
    private static let other = IndexDefinition("b", [.descending("m")])
    private static let search = SearchDefinition("a", fields: ["text"])

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A store with `count` documents, whose index builds advance only when the test calls for it.
    private func adapter(documents count: Int) async throws -> SQLiteStorageAdapter {
        let adapter = try folder.adapter()
        adapter.building.end()
        for start in stride(from: 0, to: count, by: 500) {
            try await adapter.setEach(start..<min(start + 500, count)) { number in
                let fields: DocumentFields = [
                    "n": .integer(Int64(number % 100)),
                    "tags": ["t\(number % 3)", "all"],
                    "text": .string("word\(number % 50)"),
                ]
                return ("a/\(number)", fields)
            }
        }
        return adapter
    }

    private func strict(
        _ query: DocumentQuery,
        on adapter: SQLiteStorageAdapter
    ) async throws -> ReadResult {
        var request = ReadRequest(.query(try QueryValidation.checked(query)))
        request.isStrict = true
        return try await adapter.read(request)
    }

    private func entries(_ adapter: SQLiteStorageAdapter) async throws -> Int {
        try await adapter.databasePool.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM entries") ?? 0
        }
    }

    private static let query = DocumentQuery("a").where(.equal("n", 7))

    @Test("Collections with canonically equivalent names have indexes of their own")
    func distinguishesByBytes() async throws {
        let collections: [CollectionPath] = ["\u{e9}", "e\u{301}"]
        let indexes = collections.map { IndexDefinition($0.string, [.ascending("n")]) }
        let searches = collections.map { SearchDefinition($0.string, fields: ["text"]) }
        #expect(indexes[0] != indexes[1] && searches[0] != searches[1])
        let adapter = try folder.adapter()
        try await adapter.prepare(StorageSchema(indexes: indexes, searches: searches))
        for collection in collections {
            try await adapter.set(collection.document("1"), ["n": 1, "text": "word"])
        }
        for (collection, index) in zip(collections, indexes) {
            let query = DocumentQuery(collection)
            let (found, plan) = try await adapter.found(query.where(.equal("n", 1)))
            #expect(found.map(\.path.collection) == [collection])
            #expect(plan?.access == .index(index.name))
            #expect(try await adapter.ids(query.matching("word")) == ["1"])
        }
    }

    @Test("Queries, even strict ones, scan until a large store's index is built")
    func scansMeanwhile() async throws {
        let adapter = try await adapter(documents: 12_000)
        let schema = StorageSchema(indexes: [Self.plain])
        try await adapter.prepare(schema)
        let status = try #require(try await adapter.indexes().first)
        #expect(status.schema == schema)
        #expect(status.name == Self.plain.name)
        #expect(status.progress > 0.8 && status.progress < 1)
        let (before, plan) = try await adapter.found(Self.query)
        #expect(before.count == 120)
        #expect(plan?.access == .scan)
        #expect(plan?.suggestion == nil)
        let found = try await strict(Self.query, on: adapter).found
        #expect(found.count == 120)
        let undeclared = await storageError {
            _ = try await strict(DocumentQuery("a").where(.equal("text", "x")), on: adapter)
        }
        #expect(undeclared?.code == .indexRequired)
        // Documents on both sides of the build's progress.
        for id in ["1", "11999", "new"] { try await adapter.set("a/\(id)", ["n": 7]) }
        try await adapter.delete("a/11907")
        try await adapter.finishIndexes()
        let (after, planned) = try await adapter.found(Self.query)
        #expect(after.count == 122)
        #expect(planned?.access == .index(Self.plain.name))
        #expect(try await adapter.indexes().map(\.progress) == [1])
        #expect(try await adapter.checkIntegrity().isSound)
        try adapter.close()
    }

    @Test("An index of 10,000 documents is ready when it has been prepared")
    func buildsAtOnce() async throws {
        let adapter = try await adapter(documents: 10_000)
        try await adapter.prepare(StorageSchema(indexes: [Self.plain]))
        #expect(try await adapter.indexes().map(\.progress) == [1])
        try adapter.close()
    }

    @Test("The rest of a build continues in the background")
    func goesOn() async throws {
        try await adapter(documents: 12_000).close()
        let adapter = try folder.adapter()
        try await adapter.prepare(StorageSchema(indexes: [Self.plain, Self.group]))
        await adapter.building.wait()
        #expect(try await adapter.indexes().map(\.progress) == [1, 1])
        #expect(try await adapter.found(Self.query).plan?.access == .index(Self.plain.name))
        #expect(try await adapter.checkIntegrity().isSound)
        try adapter.close()
    }

    @Test("All indexes are built in one pass, including those begun earlier")
    func onePass() async throws {
        let adapter = try await adapter(documents: 4_500)
        try await adapter.maintaining { database in
            try IndexBuild.declare(.fields(Self.plain), in: database)
            try StoreState.advanceGeneration(in: database)
        }
        var build = IndexBuild()
        for _ in 0..<2 { #expect(try await adapter.advance(&build)) }
        try await adapter.maintaining { database in
            try IndexBuild.declare(.fields(Self.group), in: database)
            try IndexBuild.declare(.fields(Self.other), in: database)
            try StoreState.advanceGeneration(in: database)
        }
        var steps = 2
        while try await adapter.advance(&build) { steps += 1 }
        // 2,000 documents for the first index, as many for the others, one step for the overlap, and then the rest
        // for all.
        #expect(steps <= 8)
        #expect(try await adapter.indexes().map(\.progress) == [1, 1, 1])
        #expect(try await adapter.checkIntegrity().isSound)
    }

    @Test("A search waits for its index and never returns a partial result")
    func searchWaits() async throws {
        let adapter = try await adapter(documents: 12_000)
        try await adapter.prepare(StorageSchema(searches: [Self.search]))
        let found = try await adapter.ids(DocumentQuery("a").matching("word7"))
        #expect(found.count == 240)
    }

    @Test("A search with a complete index does not wait for that of another collection")
    func searchesApart() async throws {
        let adapter = try await adapter(documents: 12_000)
        try await adapter.prepare(StorageSchema(searches: [Self.search]))
        try await adapter.finishIndexes()
        let other = SearchDefinition("b", fields: ["text"])
        try await adapter.prepare(StorageSchema(searches: [other]))
        let found = try await adapter.ids(DocumentQuery("a").matching("word7"))
        #expect(found.count == 240)
        let progress = try await adapter.indexes().map(\.progress)
        #expect(progress[0] == 1 && progress[1] < 1)
        // The other search waits.
        #expect(try await adapter.ids(DocumentQuery("b").matching("word7")).isEmpty)
        #expect(try await adapter.indexes().map(\.progress) == [1, 1])
    }

    @Test("Dropping an index removes its entries, and it can be declared again")
    func drops() async throws {
        let adapter = try await adapter(documents: 3_000)
        let schema = StorageSchema(indexes: [Self.plain, Self.group], searches: [Self.search])
        try await adapter.prepare(schema)
        #expect(try await entries(adapter) == 9_000)
        try await adapter.dropIndexes(in: StorageSchema(indexes: [Self.group]))
        #expect(try await entries(adapter) == 3_000)
        #expect(try await adapter.indexes().count == 2)
        #expect(try await adapter.found(Self.query).plan?.access == .index(Self.plain.name))
        try await adapter.dropIndexes(in: schema)
        #expect(try await entries(adapter) == 0)
        #expect(try await adapter.indexes().isEmpty)
        #expect(try await adapter.found(Self.query).plan?.access == .scan)
        let search = await storageError {
            _ = try await adapter.ids(DocumentQuery("a").matching("word7"))
        }
        #expect(search?.code == .indexRequired)
        try await adapter.set("a/1", ["n": 7, "text": "word7"])
        try await adapter.prepare(schema)
        #expect(try await adapter.found(Self.query).documents.count == 31)
        #expect(try await adapter.ids(DocumentQuery("a").matching("word7")).count == 61)
        #expect(try await adapter.checkIntegrity().isSound)
    }

    @Test("A drop interrupted by a crash is finished before the index is rebuilt")
    func dropsAfterCrash() async throws {
        let adapter = try await adapter(documents: 3_000)
        let schema = StorageSchema(indexes: [Self.plain])
        try await adapter.prepare(schema)
        try await adapter.maintaining { database in
            try IndexBuild.drop(.fields(Self.plain), in: database)
            try StoreState.advanceGeneration(in: database)
        }
        // The index is no longer maintained, so these entries are wrong if they remain.
        try await adapter.set("a/7", ["n": 8])
        try await adapter.delete("a/107")
        #expect(try await adapter.indexes().isEmpty)
        #expect(try await adapter.checkIntegrity().isSound)
        let next = try folder.adapter()
        try await next.prepare(schema)
        #expect(try await next.found(Self.query).documents.count == 28)
        #expect(try await next.found(Self.query).plan?.access == .index(Self.plain.name))
        #expect(try await next.checkIntegrity().isSound)
    }

    @Test("A read-only store keeps its indexes")
    func readOnly() async throws {
        let adapter = try await adapter(documents: 10)
        try await adapter.prepare(StorageSchema(indexes: [Self.plain]))
        let reader = try folder.adapter { $0.isReadOnly = true }
        let refused = await storageError {
            try await reader.dropIndexes(in: StorageSchema(indexes: [Self.plain]))
        }
        #expect(refused?.code == .readOnly)
        #expect(try await reader.indexes().map(\.progress) == [1])
    }
}

@Suite("Catalog of collections")
struct CatalogTests {
    @Test("The catalog keeps the most recently used collections")
    func bounded() throws {
        let catalog = StoreCatalog(most: 10)
        for number in 0..<1_000 {
            catalog.remember(CollectionPath("users/\(number)/notes"), as: Int64(number), in: 0)
            // A collection that is always in use.
            #expect(catalog.number(of: "users/0/notes", in: 0) == 0)
            #expect(catalog.path(of: 0) == "users/0/notes")
            #expect(catalog.count <= 20)
        }
        #expect(catalog.number(of: "users/999/notes", in: 0) == 999)
        #expect(catalog.number(of: "users/500/notes", in: 0) == nil)
    }

    @Test("Collections are listed by name regardless of subcollections")
    func names() async throws {
        let adapter = try TemporaryFolder().adapter()
        let paths: [DocumentPath] = [
            "users/1/notes/1", "users/2/notes/1", "users/2/drafts/1", "users-old/1", "users0/1",
            "users!/1/deep/1", "zoo/1", "empty/1", "\u{10FFFF}/1", "a/1", "users/1/notes/1/more/1",
        ]
        for path in paths { try await adapter.set(path, ["n": 1]) }
        try await adapter.delete("empty/1")
        let names = try await adapter.names(under: nil)
        #expect(names == ["a", "users", "users!", "users-old", "users0", "zoo", "\u{10FFFF}"])
        #expect(try await adapter.names(under: "users/1") == ["notes"])
        #expect(try await adapter.names(under: "users/2") == ["drafts", "notes"])
        #expect(try await adapter.names(under: "users/1/notes/1") == ["more"])
        #expect(try await adapter.names(under: "zoo/1") == [])
    }

    @Test("Each name is found by its path, without reading the collections below it")
    func plans() async throws {
        let adapter = try TemporaryFolder().adapter()
        try await adapter.set("a/1", [:])
        let isUsed = "EXISTS (SELECT 1 FROM documents WHERE documents.cid = collections.cid)"
        // The file has been removed, so that only connections that are open can read.
        try await adapter.databasePool.writeWithoutTransaction { database in
            for sql in [
                "SELECT path FROM collections WHERE path >= 'a' ORDER BY path LIMIT 1",
                """
                SELECT path FROM collections WHERE path > 'a' AND path < 'b'
                ORDER BY path LIMIT 1
                """,
                "SELECT 1 FROM collections WHERE path = 'a' AND \(isUsed) LIMIT 1",
                "SELECT 1 FROM collections WHERE path >= 'a' AND path < 'b' AND \(isUsed) LIMIT 1",
            ] {
                let steps = try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(sql)")
                    .map { $0["detail"] as String }
                #expect(
                    steps.first?.hasPrefix("SEARCH collections USING COVERING INDEX") == true,
                    "\(sql): \(steps)"
                )
                #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(sql): \(steps)")
            }
        }
    }
}
#endif
