import KeelStorage
import Testing

@Suite("Template of a decorator")
struct ReadOnlyStorageAdapterTests {
    @Test("Reads are passed on, and writes are rejected")
    func readsOnly() async throws {
        let adapter = InMemoryStorageAdapter()
        try await StorageClient(adapter).setDocument("notes/1", ["text": "a"])
        let storage = StorageClient(adapter.readOnly())
        #expect(try await storage.getDocument("notes/1")["text"] == "a")
        let error = await #expect(throws: StorageError.self) {
            try await storage.deleteDocument("notes/1")
        }
        #expect(error?.code == .readOnly)
        #expect(try await storage.count(DocumentQuery("notes")) == 1)
    }
}
