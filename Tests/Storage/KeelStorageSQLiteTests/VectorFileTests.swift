#if SQLite
import GRDB
import KeelStorage
import KeelStorageAdapting
import Testing

@testable import KeelStorageSQLite

/// Files with vectors, and files of the version before vectors.
@Suite("Files with vectors")
struct VectorFileTests {
    /// The map that represents a vector in Firestore's protocol, which that version could store as a map.
    private static let lookalike: DocumentValue = ["__type__": "__vector__", "value": [1.0]]

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("Vectors lie between arrays and maps, also in an index that was built without them")
    func order() async throws {
        let schema = StorageSchema(indexes: [
            IndexDefinition("a", [.ascending("v")]), IndexDefinition("a", [.descending("v")]),
        ])
        let former = try folder.adapter()
        try await former.prepare(schema)
        try await former.set("a/array", ["v": [9]])
        try await former.set("a/map", ["v": [:]])
        // As that version did when a client set `v.__type__` and `v.value`.
        try await former.set("a/typed", ["v": Self.lookalike])
        let before = try #require(try await former.document("a/typed"))
        try former.close()

        let adapter = try folder.adapter()
        try await adapter.prepare(schema)
        #expect(try await adapter.document("a/typed") == before)
        #expect(before["v"]?.mapValue?.count == 2)
        try await adapter.set("a/long", ["v": .vector([-1, -1])])
        try await adapter.set("a/short", ["v": .vector([5])])
        let query = DocumentQuery("a").order(by: "v")
        #expect(try await adapter.ids(query) == ["array", "short", "long", "map", "typed"])
        let descending = DocumentQuery("a").order(by: "v", .descending)
        #expect(try await adapter.ids(descending) == ["typed", "map", "long", "short", "array"])
        let equal = DocumentQuery("a").where(.equal("v", .vector([5])))
        #expect(try await adapter.ids(equal) == ["short"])
        #expect(try await adapter.ids(DocumentQuery("a").where(.less("v", [:]))) == [])
        #expect(try await adapter.checkIntegrity().isSound)
        try adapter.close()
    }

    @Test("A map like a vector keeps its kind when another field changes")
    func update() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("a/typed", ["v": Self.lookalike])
        let change = FieldChange("n", .set(1))
        try await adapter.apply(WriteBatch([DocumentWrite("a/typed", .update([change]))]))
        #expect(try await adapter.document("a/typed")?["v"] == Self.lookalike)
        try adapter.close()
    }

    @Test("Vectors too long for an index entry are sorted and compared whole")
    func longVectors() async throws {
        let adapter = try folder.adapter()
        try await adapter.prepare(StorageSchema(indexes: [IndexDefinition("a", [.ascending("v")])]))
        let common = Array(repeating: 0.25, count: VectorValue.mostElements - 1)
        for (id, last) in [("c", 3.0), ("a", 1), ("b", 2)] {
            try await adapter.set(
                DocumentPath("a/\(id)"),
                ["v": .vector(VectorValue(common + [last]))]
            )
        }
        #expect(try await adapter.ids(DocumentQuery("a").order(by: "v")) == ["a", "b", "c"])
        #expect(try await adapter.checkIntegrity().isSound)
        try adapter.close()
    }
}
#endif
