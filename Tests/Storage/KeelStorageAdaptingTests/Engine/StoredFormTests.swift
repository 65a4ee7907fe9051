import KeelStorageAdapting
import KeelTestSupport
import Testing

/// Tests of the stored form of data other than documents.
@Suite("Stored forms of definitions and receipts")
struct StoredFormTests {
    private static let kinds: [StoredIndex.Kind] = [
        .fields(IndexDefinition("notes", [.ascending("a"), .descending("b.c")])),
        .fields(IndexDefinition("notes", scope: .group, [.contains("tags")])),
        .fields(IndexDefinition("notes", [.ascending("a")], isEqualityOnly: true)),
        .search(SearchDefinition("notes", fields: ["title", "body.text"])),
    ]

    @Test("Definitions are decoded unchanged, and different ones have different bytes")
    func definitions() throws {
        var seen: Set<[UInt8]> = []
        for kind in Self.kinds {
            let (found, _) = try StoredIndex.Kind.decoded(kind.encoded)
            #expect(found.name == kind.name)
            #expect(found.encoded == kind.encoded)
            #expect(seen.insert(kind.encoded).inserted, "\(kind.name) has the bytes of another one")
        }
    }

    @Test("A damaged definition is reported as corrupted")
    func damage() {
        for fields: DocumentFields in [
            [:], ["collection": "notes"], ["collection": "notes", "search": [1]],
        ] {
            let error = #expect(throws: StorageError.self) {
                _ = try StoredIndex.Kind.decoded(DocumentBody(fields).bytes)
            }
            #expect(error?.code == .corrupted)
        }
    }

    @Test("A receipt is decoded unchanged")
    func receipts() throws {
        let receipt = CommitReceipt(
            batchID: "b1",
            commitTime: Timestamp(microseconds: 77),
            outcomes: [
                .init(
                    revision: Revision(number: 5),
                    updateTime: Timestamp(microseconds: 76),
                    transformResults: [3, .null, .timestamp(Timestamp(microseconds: 1))]
                ),
                .init(revision: nil, updateTime: nil),
            ],
            position: ChangeCursor(bytes: [9])
        )
        let bytes = StoredReceipt.encoded(receipt, sequence: 12)
        let found = try StoredReceipt.decoded(bytes, id: "b1") { sequence in
            ChangeCursor(bytes: [UInt8(sequence) - 3])
        }
        #expect(found == receipt)
        expectError(StorageError.self, .corrupted) {
            _ = try StoredReceipt.decoded(DocumentBody(["time": 1]).bytes, id: "b1") { _ in
                ChangeCursor(bytes: [])
            }
        }
    }

    @Test("An index has one entry per distinct element and none for a missing field")
    func keys() throws {
        func index(_ definition: IndexDefinition) throws -> StoredIndex {
            try StoredIndex(
                number: 1,
                definition: StoredIndex.Kind.fields(definition).encoded,
                built: nil
            )
        }
        let tags = try index(IndexDefinition("notes", [.contains("tags"), .descending("n")]))
        let body = DocumentBody(["tags": ["a", "b", "a"], "n": 3])
        let descending = IndexKey.key(3).map(~)
        #expect(
            tags.keys(of: body) == [IndexKey.key("a") + descending, IndexKey.key("b") + descending]
        )
        #expect(tags.keys(of: DocumentBody(["tags": ["a"]])).isEmpty)
        #expect(tags.keys(of: DocumentBody(["tags": [], "n": 3])).isEmpty)
        let group = try index(IndexDefinition("notes", scope: .group, [.ascending("n")]))
        #expect(group.entryCollection(7) == 0)
        #expect(tags.entryCollection(7) == 7)
    }

    @Test("Only finished indexes serve queries, but all are maintained")
    func indexSet() throws {
        let all = try Self.kinds.enumerated().map { number, kind in
            try StoredIndex(
                number: Int64(number),
                definition: kind.encoded,
                built: number == 0 ? 5 : nil
            )
        }
        let set = IndexSet(generation: 4, all: all)
        #expect(set.declared.indexes.count == 3)
        #expect(set.planner.indexes.count == 2)
        #expect(set.searches.count == 1)
        #expect(set.covering("notes").count == 4)
        #expect(set.covering("other").isEmpty)
    }
}
