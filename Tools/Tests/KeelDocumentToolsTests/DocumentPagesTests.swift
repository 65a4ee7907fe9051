import KeelDocumentTools
import KeelStorage
import Testing

@Suite("Pages of documents")
struct DocumentPagesTests {
    private func store() async throws -> StorageClient {
        let client = StorageClient(InMemoryStorageAdapter())
        for number in 1...7 {
            let path: DocumentPath = "c/d\(number)"
            try await client.setDocument(
                path,
                ["rank": .integer(Int64(number / 3)), "name": .string("n\(number)")]
            )
        }
        return client
    }

    private func ids(_ pages: DocumentPages) async throws -> [[String]] {
        var pages = pages
        var found: [[String]] = []
        while let page = try await pages.next() { found.append(page.documents.map(\.id)) }
        return found
    }

    @Test("Pages return a query’s documents in order, whatever is selected")
    func order() async throws {
        let client = try await store()
        let query = DocumentQuery("c").where(.greaterOrEqual("rank", 0))
            .order(by: "rank", .descending).select("name")
        let whole = try await client.queryDocuments(query)
        let found = try await ids(DocumentPages(client, of: query, size: 2))
        #expect(found.flatMap(\.self) == whole.map(\.id))
        #expect(found.map(\.count) == [2, 2, 2, 1])
        var pages = DocumentPages(client, of: query, size: 100)
        let page = try await pages.next()
        #expect(page?.documents.map(\.body) == whole.map(\.body))
    }

    @Test("A limit and an offset apply across all pages", arguments: [1, 2, 3, 100])
    func limits(_ size: Int) async throws {
        let client = try await store()
        let query = DocumentQuery("c").order(by: "rank").offset(1).limit(to: 4)
        let whole = try await client.queryDocuments(query).map(\.id)
        let found = try await ids(DocumentPages(client, of: query, size: size))
        #expect(found.flatMap(\.self) == whole)
        let last = DocumentQuery("c").order(by: "rank").limit(toLast: 3)
        let lastIDs = try await client.queryDocuments(last).map(\.id)
        let foundLast = try await ids(DocumentPages(client, of: last, size: size))
        #expect(foundLast == [lastIDs])
    }

    @Test("Pages of a scope can start after a document")
    func beginning() async throws {
        let client = try await store()
        let found = try await ids(DocumentPages(client, .collection("c"), after: "c/d4", size: 2))
        #expect(found == [["d5", "d6"], ["d7"]])
    }
}
