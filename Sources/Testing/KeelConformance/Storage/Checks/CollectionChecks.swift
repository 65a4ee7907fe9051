import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let collections: [Self] = [
        listing("contains a top-level collection") { store in
            try await store.set(["a": 1])
            #expect(try await store.client.collections().contains(store.name))
        },
        listing("contains the collections of a document in byte order") {
            store async throws in
            for name in ["b", "a", "B", "aa"] {
                let path = store.path().collection(name).document("x")
                try await store.client.setDocument(path, ["a": 1])
            }
            #expect(
                try await store.client.collections(under: store.path()) == ["B", "a", "aa", "b"]
            )
        },
        listing("contains a collection with several documents once") { store async throws in
            for id in ["1", "2", "3"] {
                let path = store.path().collection("c").document(id)
                try await store.client.setDocument(path, ["a": 1])
            }
            #expect(try await store.client.collections(under: store.path()) == ["c"])
        },
        listing("contains the collections of a missing document") { store in
            let path = store.path("missing").collection("c").document("x")
            try await store.client.setDocument(path, ["a": 1])
            #expect(try await store.client.collections(under: store.path("missing")) == ["c"])
        },
        listing("contains a collection that has documents only at deeper levels") { store in
            let path = store.path("a").collection("b").document("c").collection("d").document("e")
            try await store.client.setDocument(path, ["a": 1])
            #expect(try await store.client.collections(under: store.path("a")) == ["b"])
            #expect(try await store.client.collections().contains(store.name))
        },
        listing("omits the collections of a document whose id has the same prefix") { store in
            let path = store.path("ab").collection("c").document("x")
            try await store.client.setDocument(path, ["a": 1])
            #expect(try await store.client.collections(under: store.path("a")).isEmpty)
        },
        listing("omits a collection whose last document was deleted") { store in
            let path = store.path().collection("c").document("x")
            try await store.client.setDocument(path, ["a": 1])
            try await store.client.deleteDocument(path)
            #expect(try await store.client.collections(under: store.path()).isEmpty)
        },
        listing("distinguishes canonically equivalent names") { store in
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
        Self(.collections, "a listing \(promise)", needs: .collectionListing, body)
    }
}
