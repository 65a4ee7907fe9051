import KeelStorage
import Testing

@Suite("The template of a decorator")
struct ReadOnlyStorageAdapterTests {
    @Test("What is below is read, and not written")
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
