import KeelStorage
import KeelStorageAdapting
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

    @Test("The records that servers share are those of the store")
    func sharesRecords() {
        #expect(SharingStorageAdapter().readOnly().sharedRecords != nil)
    }
}

/// An empty store whose servers share records.
private struct SharingStorageAdapter: StorageAdapter, SharedRecords {
    var capabilities: StorageCapabilities { [] }
    var sharedRecords: (any SharedRecords)? { self }

    private var unavailable: StorageError { StorageError(.unavailable, "this store is empty") }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult { throw unavailable }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        throw unavailable
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw unavailable
    }

    func sharedRecord(_ key: String) async throws(StorageError) -> SharedRecord? { nil }

    func replaceSharedRecord(
        _ key: String,
        at version: Int64?,
        with content: [UInt8],
        keptFor duration: Duration
    ) async throws(StorageError) -> Bool { false }

    func removeSharedRecord(_ key: String) async throws(StorageError) {}
}
