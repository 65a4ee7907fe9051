#if SQLite
import KeelStorage
import KeelStorageSQLite
import Testing

@Suite("Text search")
struct SearchTests {
    let folder: TemporaryFolder
    let schema = StorageSchema(searches: [SearchDefinition("a", fields: ["title", "tags"])])

    init() throws { folder = try TemporaryFolder() }

    private func ids(_ adapter: SQLiteStorageAdapter, _ text: String, _ fields: FieldPath...)
        async throws -> [String]
    {
        var query = DocumentQuery("a")
        query.search = TextSearch(text, in: fields.isEmpty ? nil : fields)
        return try await adapter.ids(query)
    }

    @Test("a search finds words, prefixes and folded letters in the requested fields")
    func finds() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("a/1", ["title": "O'Hara's Café", "tags": ["Wine", "Bar"]])
        try await adapter.prepare(schema)
        try await adapter.set("a/2", ["title": "Wine cellar", "tags": []])
        try await adapter.set("b/3", ["title": "Wine"])
        try await adapter.set("a/4", ["title": "日本料理 NEAR AND x\"y* (c0)"])
        #expect(try await ids(adapter, "wine") == ["1", "2"])
        #expect(try await ids(adapter, "WINE", "tags") == ["1"])
        #expect(try await ids(adapter, "cafe") == ["1"])
        #expect(try await ids(adapter, "wi* ce*") == ["2"])
        #expect(try await ids(adapter, "日本料理") == ["4"])
        #expect(try await ids(adapter, "near and") == ["4"])
        #expect(try await ids(adapter, "y") == ["4"])
        #expect(try await ids(adapter, "win").isEmpty)
    }

    @Test("a search distinguishes words that begin with the same 32 KiB")
    func longWords() async throws {
        let adapter = try folder.adapter()
        try await adapter.prepare(schema)
        let start = String(repeating: "x", count: 40_000)
        try await adapter.set("a/1", ["title": .string(start + "1")])
        #expect(try await ids(adapter, start + "1") == ["1"])
        #expect(try await ids(adapter, start + "*") == ["1"])
        #expect(try await ids(adapter, start + "2").isEmpty)
        #expect(try await ids(adapter, start + "2*").isEmpty)
        #expect(try await ids(adapter, start).isEmpty)
    }

    @Test("a search in no field is refused")
    func refusesNoField() async throws {
        let adapter = try folder.adapter()
        try await adapter.prepare(schema)
        let query = DocumentQuery("a").with { $0.search = TextSearch("wine", in: []) }
        for storage in [StorageClient(adapter), StorageClient(InMemoryStorageAdapter())] {
            let error = await #expect(throws: StorageError.self) {
                try await storage.queryDocuments(query)
            }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test("a search reflects updates and deletions, even across instances")
    func follows() async throws {
        let (one, other) = (try folder.adapter(), try folder.adapter())
        try await one.prepare(schema)
        try await one.set("a/1", ["title": "old"])
        try await other.set("a/1", ["title": "new"])
        #expect(try await ids(one, "old").isEmpty)
        #expect(try await ids(one, "new") == ["1"])
        try await other.set("a/1", ["other": 1])
        #expect(try await ids(one, "new").isEmpty)
        try await other.set("a/1", ["title": "again"])
        try await one.delete("a/1")
        #expect(try await ids(other, "again").isEmpty)
        #expect(try await one.checkIntegrity().isSound)
    }

    @Test("a search without fields covers those of its client, whatever others have declared")
    func declaredFields() async throws {
        let adapter = try folder.adapter()
        let former = SearchDefinition("a", fields: ["title"])
        try await adapter.prepare(StorageSchema(searches: [former]))
        try await adapter.set("a/1", ["title": "one", "text": "two"])
        let present = SearchDefinition("a", fields: ["title", "text"])
        let storage = StorageClient(adapter, schema: StorageSchema(searches: [present]))
        for query in [DocumentQuery("a"), DocumentQuery(group: "a")] {
            let found = try await storage.queryDocuments(query.matching("two"))
            #expect(found.map(\.id) == ["1"])
        }
        let earlier = StorageClient(adapter, schema: StorageSchema(searches: [former]))
        #expect(try await earlier.queryDocuments(DocumentQuery("a").matching("two")).isEmpty)
    }

    @Test("a search in a group of collections looks for its words once")
    func group() async throws {
        let adapter = try folder.adapter()
        try await adapter.prepare(schema)
        for number in 0..<50 {
            try await adapter.set("users/\(number)/a/1", ["title": .string("word\(number % 2)")])
        }
        try await adapter.set("a/2", ["title": "other"])
        let all = DocumentQuery(group: "a").matching("word1")
        #expect(try await adapter.found(all).documents.count == 25)
        let one = DocumentQuery(group: "a", under: "users/7").matching("word1")
        #expect(try await adapter.found(one).documents.map(\.path) == ["users/7/a/1"])
        #expect(try adapter.runs(ofStatementsWith: "MATCH") == 2)
    }

    @Test("a search without a declaration names the required one")
    func needsDeclaration() async throws {
        let adapter = try folder.adapter()
        let error = await storageError { _ = try await ids(adapter, "x", "title") }
        #expect(error?.code == .indexRequired)
        #expect(error?.message.contains("SearchDefinition(\"a\"") == true)
    }
}
#endif
