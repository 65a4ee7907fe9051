import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Clients that allow staleness")
struct StalenessTests {
    @Test("Only the reads of the client that allows staleness do, and it cannot write")
    func reads() async throws {
        let recorded = InMemoryStorageAdapter().recorded()
        let storage = StorageClient(recorded)
        try await storage.setDocument("notes/1", ["n": 1])
        let recent = storage.allowingStaleness(of: .seconds(10))
        #expect(try await recent.getDocument("notes/1").fields() == ["n": 1])
        #expect(recorded.lastRead?.maximumStaleness == .seconds(10))
        #expect(try await recent.count(DocumentQuery("notes")) == 1)
        #expect(recorded.lastRead?.maximumStaleness == .seconds(10))
        #expect(try await storage.count(DocumentQuery("notes")) == 1)
        #expect(recorded.lastRead?.maximumStaleness == nil)
        await expectError(StorageError.self, .readOnly) {
            try await recent.setDocument("notes/1", ["n": 2])
        }
    }
}
