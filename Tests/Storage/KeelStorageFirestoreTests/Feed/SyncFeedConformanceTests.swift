import KeelConformance
import KeelStorage
import KeelStorageFirestore
import Testing

@Suite("Conformance of changes over HTTP")
struct SyncFeedConformanceTests {
    @Test(arguments: StorageAdapterCheck.changes)
    func keeps(_ check: StorageAdapterCheck) async throws {
        try await check.run(on: FedAdapter(InMemoryStorageAdapter()))
    }

    @Test("All checks pass one after another on one feed")
    func shared() async throws {
        let adapter = FedAdapter(InMemoryStorageAdapter())
        for check in StorageAdapterCheck.changes { try await check.run(on: adapter) }
        #expect(adapter.feed.streamCount <= 8)
    }
}
