import KeelCore
import KeelStorage
import KeelStorageAdapting
import Testing

@Suite("Template of a storage adapter over a legacy SDK")
struct LegacyStorageAdapterTests {
    let storage = StorageClient(LegacyStorageAdapter(LegacyRecords()))

    @Test("A written document can be read, queried and counted")
    func roundTrip() async throws {
        try await storage.setDocument("notes/1", ["text": "a", "stars": 2])
        try await storage.setDocument("notes/2", ["text": "b", "stars": 5])
        try await storage.setDocument("notes/2/replies/1", ["stars": 9])
        try await storage.updateDocument("notes/1", [.increment("stars")])

        let best = DocumentQuery("notes").where(.greater("stars", 1))
            .order(by: "stars", .descending)
        #expect(try await storage.getDocument("notes/1")["stars"] == 3)
        #expect(try await storage.queryDocuments(best).map(\.id) == ["2", "1"])
        #expect(try await storage.queryDocuments(best.limit(toLast: 1)).map(\.id) == ["1"])
        #expect(try await storage.count(DocumentQuery("notes")) == 2)
        #expect(try await storage.aggregate(DocumentQuery("notes"), [.sum("stars")]) == [8])
    }

    @Test("A batch whose condition fails changes nothing")
    func atomicBatch() async throws {
        try await storage.setDocument("notes/1", ["text": "a"])
        let adapter = LegacyStorageAdapter(LegacyRecords())
        let batch = WriteBatch([
            try .set(["text": "b"], at: "notes/2"),
            try .set(["text": "c"], at: "notes/3", if: .exists),
        ])
        let results = try await adapter.commit([batch])
        #expect(throws: StorageError.self) { try results.first?.get() }
        let read = try await adapter.read(ReadRequest(.query(DocumentQuery("notes"))))
        guard case .found(let documents) = read.payload else {
            Issue.record("a query was answered with something else")
            return
        }
        #expect(documents.isEmpty)
    }

    @Test("Revisions increase across a deletion, and each write of a batch returns the last one")
    func revisions() async throws {
        let first = try await storage.setDocument("notes/1", ["text": "a"])
        try await storage.deleteDocument("notes/1")
        let second = try await storage.setDocument("notes/1", ["text": "a"])
        let (old, new) = (try #require(first.revision), try #require(second.revision))
        #expect(new > old)

        let batch = WriteBatch([
            try .set(["text": "b"], at: "notes/2"),
            .update("notes/2", [FieldChange("text", .set("c"))]),
        ])
        let receipt = try await LegacyStorageAdapter(LegacyRecords()).commit([batch])[0].get()
        #expect(receipt.outcomes[0].revision == receipt.outcomes[1].revision)
    }

    @Test("Unsupported calls are rejected before the SDK is called")
    func unsupported() async throws {
        let error = await #expect(throws: StorageError.self) { try await storage.collections() }
        #expect(error?.code == .unsupported)
    }
}
