import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Index files of Firebase’s command line")
struct FirebaseIndexesTests {
    /// The shape that firebase.google.com/docs/reference/firestore/indexes describes.
    private static let file = """
        {
          "indexes": [
            {"collectionGroup": "restaurants", "queryScope": "COLLECTION", "fields": [
              {"fieldPath": "borough", "order": "ASCENDING"},
              {"fieldPath": "rating", "order": "DESCENDING"},
              {"fieldPath": "__name__", "order": "DESCENDING"}]},
            {"collectionGroup": "posts", "queryScope": "COLLECTION_GROUP", "fields": [
              {"fieldPath": "tags", "arrayConfig": "CONTAINS"},
              {"fieldPath": "date", "order": "ASCENDING"}], "density": "SPARSE_ALL"},
            {"collectionGroup": "films", "queryScope": "COLLECTION", "fields": [
              {"fieldPath": "genre", "order": "ASCENDING"},
              {"fieldPath": "plot", "vectorConfig": {"dimension": 768, "flat": {}}}]},
            {"collectionGroup": "all", "queryScope": "COLLECTION_RECURSIVE", "fields": [
              {"fieldPath": "a", "order": "ASCENDING"}]}
          ],
          "fieldOverrides": [
            {"collectionGroup": "sessions", "fieldPath": "expires", "ttl": true, "indexes": []},
            {"collectionGroup": "posts", "fieldPath": "author.name", "indexes": [
              {"order": "ASCENDING", "queryScope": "COLLECTION_GROUP"},
              {"arrayConfig": "CONTAINS", "queryScope": "COLLECTION"}]},
            {"collectionGroup": "posts", "fieldPath": "*", "indexes": [
              {"order": "ASCENDING", "queryScope": "COLLECTION"}]}
          ]
        }
        """

    @Test("Supported indexes become a schema, and unsupported ones are named")
    func counterparts() throws {
        let indexes = try FirebaseIndexes(Data(Self.file.utf8))
        #expect(
            indexes.schema.indexes == [
                IndexDefinition("restaurants", [.ascending("borough"), .descending("rating")]),
                IndexDefinition("posts", scope: .group, [.contains("tags"), .ascending("date")]),
                IndexDefinition("posts", scope: .group, [.ascending("author.name")]),
                IndexDefinition("posts", [.contains("author.name")]),
            ]
        )
        #expect(
            indexes.leftOut == [
                "films(genre, plot): a vector index on plot",
                "all(a): the scope COLLECTION_RECURSIVE",
                "sessions.expires: time to live (ttl)", "posts.*: an index on every field",
            ]
        )
    }

    @Test("The Swift code declares the same indexes")
    func swiftCode() throws {
        let schema = StorageSchema(indexes: [
            IndexDefinition("a", scope: .group, [.ascending("b.c"), .contains("d")])
        ])
        let code = SchemaSource.swift(schema)
        #expect(
            code == """
                let schema = StorageSchema(indexes: [
                    IndexDefinition("a", scope: .group, [.ascending("b.c"), .contains("d")]),
                ])
                """
        )
        let empty = SchemaSource.swift(StorageSchema())
        #expect(empty == "let schema = StorageSchema()")
    }

    @Test("A store prepared from the file uses the index")
    func preparation() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        try await store.prepare(try FirebaseIndexes(Data(Self.file.utf8)).schema)
        let query = DocumentQuery("restaurants").where(.equal("borough", "Bronx"))
            .order(by: "rating", .descending)
        let plan = try await StorageClient(store).run(query).plan
        #expect(plan?.access == .index("restaurants(borough+,rating-)"))
    }

    @Test(
        "An invalid file is rejected with the reason",
        arguments: ["[]", "{", #"{"indexes":[{}]}"#]
    )
    func refusals(_ text: String) {
        #expect(throws: ToolError.self) { _ = try FirebaseIndexes(Data(text.utf8)) }
    }
}
