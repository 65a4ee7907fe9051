import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import Testing

@Suite("Keel's own records on a server")
struct OwnRecordTests {
    private let store = InMemoryStorageAdapter()
    private let path = DocumentPath("__outbox.test__/1")

    @Test("Keel clients can store them and receive their changes")
    func kept() async throws {
        let adapter = try Served.keel(store)
        let client = StorageClient(adapter)
        let write = DocumentWrite(path, .set(DocumentBody(["text": "waits"])))
        _ = try await client.commitOwn([write], id: "1", for: "test")
        let result = try await adapter.read(ReadRequest(.documents([path])))
        let documents = try result.documents
        #expect(documents.first??["text"]?.stringValue == "waits")
        let page = try await adapter.changes(ChangeRequest())
        #expect(page.changes.map(\.path) == [path])
        let query = ReadRequest(.query(DocumentQuery(path.collection)))
        let found = try await adapter.read(query).found
        #expect(found.map(\.path) == [path])
    }

    @Test("Other clients cannot access them, and no client can access the server's own")
    func outOfReach() async throws {
        let write = DocumentWrite(path, .set(DocumentBody([:])))
        let plain = Served.plain(store)
        let refused = try await plain.commit([WriteBatch([write])])
        #expect(throws: StorageError.self) { try refused.first?.get() }
        let own = DocumentPath("__keel_sync__/epoch")
        for adapter in [try Served.keel(store), plain] {
            await #expect(throws: StorageError.self) {
                try await adapter.read(ReadRequest(.documents([own])))
            }
        }
        let nested = DocumentWrite("a/1/__own__/1", .set(DocumentBody([:])))
        let results = try await Served.keel(store).commit([WriteBatch([nested])])
        #expect(throws: StorageError.self) { try results.first?.get() }
    }
}
