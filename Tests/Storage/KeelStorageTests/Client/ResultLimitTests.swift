import KeelStorage
import Testing

@Suite("Limits of results")
struct ResultLimitTests {
    let storage = StorageClient(InMemoryStorageAdapter())

    @Test("A limit, an offset and a page size can be as large as an integer")
    func extremes() async throws {
        try await storage.setDocument("notes/a", ["n": 1])
        try await storage.setDocument("notes/b", ["n": 2])
        let all = DocumentQuery("notes").order(by: "n")
        for query in [all.limit(to: .max), all.limit(toLast: .max)] {
            #expect(try await storage.queryDocuments(query).map(\.id) == ["a", "b"])
            #expect(try await storage.queryDocuments(query.offset(1)).count == 1)
            #expect(try await storage.queryDocuments(query.offset(.max)).isEmpty)
            for offset in [0, 1] {
                var snapshots = storage.listen(to: query.offset(offset)).makeAsyncIterator()
                #expect(try await snapshots.next()?.documents.count == 2 - offset)
            }
        }
        var found: [String] = []
        for try await document in storage.documents(matching: all.limit(to: .max).offset(1)) {
            found.append(document.id)
        }
        #expect(found == ["b"])
        let page = try await storage.page(all, size: .max)
        #expect(page.items.map(\.id) == ["a", "b"])
        #expect(!page.hasMore)
    }
}
