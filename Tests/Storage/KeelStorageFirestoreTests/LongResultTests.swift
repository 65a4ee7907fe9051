import KeelStorage
import KeelStorageFirestore
import Testing

@Suite("Long results over the Firestore protocol")
struct LongResultTests {
    /// With or without Keel's extensions, over a store with or without a history.
    enum Way: CaseIterable {
        case keel, plain, withoutHistory

        var isOfOneMoment: Bool { self != .withoutHistory }

        func adapter() throws -> FirestoreStorageAdapter {
            switch self {
            case .keel: try Served.keel(InMemoryStorageAdapter(history: .seconds(3_600)))
            case .plain: Served.plain(InMemoryStorageAdapter(history: .seconds(3_600)))
            case .withoutHistory: try Served.keel(InMemoryStorageAdapter())
            }
        }
    }

    private static func id(_ number: Int) -> String { String(10_000 + number) }

    @Test(
        "Long results are read in parts, consistently if the store has a history",
        arguments: Way.allCases
    )
    func iterates(_ way: Way) async throws {
        let storage = StorageClient(try way.adapter())
        for start in stride(from: 0, to: 1_000, by: 500) {
            try await storage.commit { batch in
                for number in start..<start + 500 {
                    try batch.set("a/\(Self.id(number))", ["n": .integer(Int64(number % 7))])
                }
            }
        }
        let query = DocumentQuery("a").order(by: "n").offset(3).limit(to: 900)
        let expected = try await storage.queryDocuments(query)
        var found: [Document] = []
        for try await document in storage.documents(matching: query) { found.append(document) }
        #expect(found == expected)
        var ids: [String] = []
        for try await document in storage.documents(matching: DocumentQuery("a")) {
            if ids.isEmpty { try await storage.deleteDocument("a/\(Self.id(999))") }
            ids.append(document.path.id)
        }
        #expect(ids == (0..<(way.isOfOneMoment ? 1_000 : 999)).map(Self.id))
    }
}
