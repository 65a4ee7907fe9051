import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let documents: [Self] =
        readingChecks + writingChecks + fieldChecks + versionChecks

    private static let readingChecks: [Self] = [
        Self(.documents, "a document is read back unchanged") { store in
            try await store.set(["text": "hello", "count": 3])
            #expect(try await store.fields() == ["text": "hello", "count": 3])
        },
        Self(.documents, "a document contains its path") { store in
            try await store.set(["a": 1])
            #expect(try await store.document().path == store.path())
        },
        Self(.documents, "find returns nil for a missing document") { store async throws in
            #expect(try await store.client.findDocument(store.path()) == nil)
        },
        Self(.documents, "get throws documentNotFound for a missing document") { store in
            await store.expect(.documentNotFound) { _ = try await store.document() }
        },
        Self(.documents, "several documents are returned in the order of the requested paths") {
            store in
            try await store.fill(["a": ["n": 1], "b": ["n": 2], "c": ["n": 3]])
            let paths = ["c", "a", "b"].map { store.path($0) }
            let found = try await store.client.findDocuments(paths)
            #expect(found.map { $0?.id } == ["c", "a", "b"])
        },
        Self(.documents, "a missing document among several is nil in its place") { store in
            try await store.fill(["a": ["n": 1], "c": ["n": 3]])
            let paths = ["a", "b", "c"].map { store.path($0) }
            let found = try await store.client.findDocuments(paths)
            #expect(found.map { $0?.id } == ["a", nil, "c"])
        },
        Self(.documents, "a path that is requested twice is returned twice") { store in
            try await store.set(["n": 1])
            let found = try await store.client.findDocuments([store.path(), store.path()])
            #expect(found.map { $0?.id } == ["d", "d"])
        },
        Self(.documents, "reading no documents returns none") { store async throws in
            #expect(try await store.client.findDocuments([]).isEmpty)
        },
        Self(.documents, "documents with the same id in two collections are separate") { store in
            let other = CollectionPath(store.name + "x").document("d")
            try await store.set(["a": 1])
            try await store.client.setDocument(other, ["a": 2])
            try await store.client.deleteDocument(other)
            #expect(try await store.fields() == ["a": 1])
        },
    ]

    private static let writingChecks: [Self] = [
        Self(.documents, "setting replaces all fields") { store in
            try await store.set(["a": 1, "b": 2])
            try await store.set(["c": 3])
            #expect(try await store.fields() == ["c": 3])
        },
        Self(.documents, "a document without fields exists") { store in
            try await store.set([:])
            #expect(try await store.fields() == [:])
            #expect(try await store.ids(store.query) == ["d"])
        },
        Self(.documents, "creating stores a missing document") { store in
            try await store.client.createDocument(store.path(), ["a": 1])
            #expect(try await store.fields() == ["a": 1])
        },
        Self(.documents, "creating an existing document is rejected and leaves it unchanged") {
            store in
            try await store.set(["a": 1])
            await store.expect(.alreadyExists) {
                try await store.client.createDocument(store.path(), ["a": 2])
            }
            #expect(try await store.fields() == ["a": 1])
        },
        Self(.documents, "creating works again after a deletion") { store in
            try await store.set(["a": 1])
            try await store.client.deleteDocument(store.path())
            try await store.client.createDocument(store.path(), ["a": 2])
            #expect(try await store.fields() == ["a": 2])
        },
        Self(.documents, "each addition creates a separate document") { store in
            let one = try await store.client.addDocument(to: store.collection, ["n": 1])
            let other = try await store.client.addDocument(to: store.collection, ["n": 2])
            #expect(one != other)
            #expect(try await store.ids(store.query).count == 2)
        },
        Self(.documents, "deleting removes the document") { store in
            try await store.set(["a": 1])
            try await store.client.deleteDocument(store.path())
            #expect(try await store.fields() == nil)
            #expect(try await store.ids(store.query).isEmpty)
        },
        Self(.documents, "deleting a missing document succeeds") { store in
            let receipt = try await store.client.deleteDocument(store.path())
            #expect(receipt.outcomes.map(\.revision) == [nil])
        },
        Self(.documents, "deleting a document keeps the collections below it") { store in
            let below = store.path().collection("below").document("x")
            try await store.set(["a": 1])
            try await store.client.setDocument(below, ["b": 2])
            try await store.client.deleteDocument(store.path())
            #expect(try await store.client.findDocument(below)?.fields() == ["b": 2])
        },
    ]

    private static let fieldChecks: [Self] = [
        Self(.documents, "merging keeps the other fields") { store in
            try await store.set(["a": 1, "b": 2])
            try await store.client.mergeDocument(store.path(), ["b": 3, "c": 4])
            #expect(try await store.fields() == ["a": 1, "b": 3, "c": 4])
        },
        Self(.documents, "merging creates a missing document") { store in
            try await store.client.mergeDocument(store.path(), ["a": ["b": 1]])
            #expect(try await store.fields() == ["a": ["b": 1]])
        },
        Self(.documents, "merging combines maps name by name") { store in
            try await store.set(["m": ["a": 1, "in": ["x": 1, "y": 2]]])
            try await store.client.mergeDocument(store.path(), ["m": ["b": 2, "in": ["y": 3]]])
            #expect(try await store.fields() == ["m": ["a": 1, "b": 2, "in": ["x": 1, "y": 3]]])
        },
        Self(.documents, "merging replaces an entire array") { store in
            try await store.set(["l": [1, 2, 3]])
            try await store.client.mergeDocument(store.path(), ["l": [4]])
            #expect(try await store.fields() == ["l": [4]])
        },
        Self(.documents, "merging an empty map replaces the existing value") { store in
            try await store.set(["m": ["a": 1], "n": 1])
            try await store.client.mergeDocument(store.path(), ["m": [:]])
            #expect(try await store.fields() == ["m": [:], "n": 1])
        },
        Self(.documents, "merging no fields creates a document without fields") { store in
            try await store.client.mergeDocument(store.path(), [:])
            #expect(try await store.fields() == [:])
        },
        Self(.documents, "updating changes only the named fields") { store in
            try await store.set(["a": 1, "b": 2])
            try await store.update("d", .put("b", 3), .put("c", 4))
            #expect(try await store.fields() == ["a": 1, "b": 3, "c": 4])
        },
        Self(.documents, "updating a missing document is rejected and creates none") {
            store async throws in
            await store.expect(.documentNotFound) { try await store.update("d", .put("a", 1)) }
            #expect(try await store.fields() == nil)
        },
        Self(.documents, "updating a nested field keeps its siblings") { store in
            try await store.set(["m": ["a": 1, "b": 2]])
            try await store.update("d", .put("m.b", 3))
            #expect(try await store.fields() == ["m": ["a": 1, "b": 3]])
        },
        Self(.documents, "updating a nested field creates the maps above it") { store in
            try await store.set([:])
            try await store.update("d", .put("a.b.c", 1))
            #expect(try await store.fields() == ["a": ["b": ["c": 1]]])
        },
        Self(.documents, "updating below a value that is not a map replaces it with a map") {
            store in
            try await store.set(["a": [1, 2]])
            try await store.update("d", .put("a.b", 1))
            #expect(try await store.fields() == ["a": ["b": 1]])
        },
        Self(.documents, "updating a map replaces it entirely") { store in
            try await store.set(["m": ["a": 1, "b": 2]])
            try await store.update("d", .put("m", ["c": 3]))
            #expect(try await store.fields() == ["m": ["c": 3]])
        },
        Self(.documents, "a quoted name in a field path may contain a dot") { store in
            try await store.set(["a.b": 1, "a": ["b": 2]])
            try await store.update("d", .put("`a.b`", 3))
            #expect(try await store.fields() == ["a.b": 3, "a": ["b": 2]])
        },
        Self(.documents, "an update that names no field is rejected") { store in
            try await store.set(["a": 1])
            await store.expect(.invalidArgument) {
                try await store.client.updateDocument(store.path(), [])
            }
        },
        Self(.documents, "removing a field deletes it") { store in
            try await store.set(["a": 1, "b": 2])
            try await store.update("d", FieldChange("a", .remove))
            #expect(try await store.fields() == ["b": 2])
        },
        Self(.documents, "removing a missing field, nested or not, changes nothing") { store in
            try await store.set(["b": 2])
            try await store.update("d", FieldChange("a", .remove), FieldChange("b.c", .remove))
            #expect(try await store.fields() == ["b": 2])
        },
        Self(.documents, "removing the last field of a map keeps the empty map") { store in
            try await store.set(["m": ["a": 1]])
            try await store.update("d", FieldChange("m.a", .remove))
            #expect(try await store.fields() == ["m": [:]])
        },
    ]
}
