import KeelStorage
import Testing

extension StorageAdapterCheck {
    /// The checks of the names of collections.
    public static let collections: [Self] = [
        listing("names a collection at the top level") { store in
            try await store.set(["a": 1])
            #expect(try await store.client.collections().contains(store.name))
        },
        listing("names the collections of a document, sorted by their bytes") {
            store async throws in
            for name in ["b", "a", "B", "aa"] {
                let path = store.path().collection(name).document("x")
                try await store.client.setDocument(path, ["a": 1])
            }
            #expect(
                try await store.client.collections(under: store.path()) == ["B", "a", "aa", "b"]
            )
        },
        listing("names a collection once, however many documents it has") { store async throws in
            for id in ["1", "2", "3"] {
                let path = store.path().collection("c").document(id)
                try await store.client.setDocument(path, ["a": 1])
            }
            #expect(try await store.client.collections(under: store.path()) == ["c"])
        },
        listing("names collections of a document that does not exist") { store in
            let path = store.path("missing").collection("c").document("x")
            try await store.client.setDocument(path, ["a": 1])
            #expect(try await store.client.collections(under: store.path("missing")) == ["c"])
        },
        listing("names a collection that has only documents further down") { store in
            let path = store.path("a").collection("b").document("c").collection("d").document("e")
            try await store.client.setDocument(path, ["a": 1])
            #expect(try await store.client.collections(under: store.path("a")) == ["b"])
            #expect(try await store.client.collections().contains(store.name))
        },
        listing("leaves out collections of a document whose id begins alike") { store in
            let path = store.path("ab").collection("c").document("x")
            try await store.client.setDocument(path, ["a": 1])
            #expect(try await store.client.collections(under: store.path("a")).isEmpty)
        },
        listing("leaves out a collection whose last document is gone") { store in
            let path = store.path().collection("c").document("x")
            try await store.client.setDocument(path, ["a": 1])
            try await store.client.deleteDocument(path)
            #expect(try await store.client.collections(under: store.path()).isEmpty)
        },
        listing("tells canonically equivalent names apart") { store in
            for name in ["\u{e9}", "e\u{301}"] {
                let path = store.path().collection(name).document("x")
                try await store.client.setDocument(path, ["a": 1])
            }
            let names = try await store.client.collections(under: store.path())
            #expect(names.map { Array($0.utf8) } == ["e\u{301}", "\u{e9}"].map { Array($0.utf8) })
        },
        listing("of a document without collections is empty") { store in
            try await store.set(["a": 1])
            #expect(try await store.client.collections(under: store.path()).isEmpty)
        },
    ]

    private static func listing(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.collections, "the listing \(promise)", needs: .collectionListing, body)
    }
}
