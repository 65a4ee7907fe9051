import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let paths: [Self] =
        unusualIDs.map(taken) + lookalikes.map(toldApart) + badPaths.map(refused) + collectionChecks

    private static func taken(_ name: String, _ id: String) -> Self {
        Self(.paths, "an id may be \(name)") { store in
            try await store.fill(all: [(id, ["found": true]), ("other", ["found": false])])
            #expect(try await store.fields(id) == ["found": true])
            #expect(try await store.ids(where: .equal("found", true)) == [id])
            #expect(try await store.ids(where: .equal(.documentID, .string(id))) == [id])
            try await store.client.deleteDocument(store.path(id))
            #expect(try await store.ids(store.query) == ["other"])
        }
    }

    private static func toldApart(_ name: String, _ one: String, _ other: String) -> Self {
        Self(.paths, "\(name) refer to two documents") { store in
            try await store.fill(all: [(one, ["n": 1]), (other, ["n": 2])])
            #expect(try await store.fields(one) == ["n": 1])
            #expect(try await store.fields(other) == ["n": 2])
            // Paths are compared by their bytes, ids are not.
            let found = try await store.client.queryDocuments(store.query).map(\.path)
            #expect(found.count == 2)
            #expect(Set(found) == [store.path(one), store.path(other)])
            try await store.client.deleteDocument(store.path(one))
            #expect(try await store.fields(other) == ["n": 2])
        }
    }

    private static func refused(
        _ name: String,
        _ path: @escaping @Sendable (StoreUnderTest) -> DocumentPath
    ) -> Self {
        Self(.paths, "\(name) is rejected as invalidArgument") { store in
            let path = path(store)
            await store.expect(.invalidArgument) { _ = try await store.client.findDocument(path) }
            await store.expect(.invalidArgument) {
                try await store.client.setDocument(path, ["a": 1])
            }
            await store.expect(.invalidArgument) { try await store.client.deleteDocument(path) }
        }
    }

    private static let unusualIDs: [(String, String)] = [
        ("1,500 bytes long", String(repeating: "ab", count: 750)),
        ("all spaces", "  "),
        ("made of emoji", "🍕👩‍🍳"),
        ("made of dots", "a.b..c."),
        ("a number", "007"),
        ("percent-encoded", "a%2Fb%00"),
        ("full of quotes", "'\"`\\;--"),
        ("terminated by a NUL", "a\u{0}"),
        ("preceded by a NUL", "\u{0}a"),
        ("full of wildcards", "*?[a-z]%_"),
        ("two underscores", "__"),
        ("a colon and a hash", "a:b#c?d=e"),
    ]

    private static let lookalikes: [(String, String, String)] = [
        ("ids that are canonically equivalent", "\u{e9}", "e\u{301}"),
        ("ids that differ in case", "Ada", "ada"),
        ("ids that differ in a trailing space", "ada", "ada "),
        ("ids that differ in a trailing NUL", "ada", "ada\u{0}"),
        ("ids that differ in leading zeros", "1", "01"),
        ("ids that look alike in two scripts", "a", "\u{430}"),
    ]

    private static let badPaths: [(String, @Sendable (StoreUnderTest) -> DocumentPath)] = [
        ("an empty id", { $0.path("") }),
        ("the id “.”", { $0.path(".") }),
        ("the id “..”", { $0.path("..") }),
        ("an id of the form __…__", { $0.path("__id__") }),
        (
            "a reserved name inside a path",
            { $0.path("a").collection("__x__").document("b").collection("y").document("c") }
        ),
        ("an id of more than 1,500 bytes", { $0.path(String(repeating: "a", count: 1_501)) }),
        ("an id with a slash", { $0.path("a/b") }),
        ("an interpolated id with a slash", { "\($0.name)/\("a/b")" }),
        (
            "an interpolated id that names another collection’s document",
            { "\($0.name)/\("a/b/c")" }
        ),
        ("an empty collection name", { _ in DocumentPath("/a") }),
        ("an empty segment in the middle", { DocumentPath("\($0.name)//x/y") }),
        ("a path that names a collection", { DocumentPath($0.name) }),
        ("a path with a trailing slash", { DocumentPath("\($0.name)/a/") }),
    ]

    private static let collectionChecks: [Self] = [
        Self(.paths, "a path can have twenty segments") { store in
            var collection = store.collection
            for level in 1..<10 { collection = collection.document("d\(level)").collection("c") }
            let path = collection.document("deep")
            try await store.client.setDocument(path, ["a": 1])
            #expect(try await store.client.getDocument(path).path == path)
            #expect(try await store.ids(DocumentQuery(collection)) == ["deep"])
        },
        Self(.paths, "a document can be below a missing document") { store in
            let below = store.path("missing").collection("below").document("x")
            try await store.client.setDocument(below, ["a": 1])
            #expect(try await store.client.findDocument(below)?.fields() == ["a": 1])
            #expect(try await store.client.findDocument(store.path("missing")) == nil)
            #expect(try await store.ids(store.query).isEmpty)
        },
        Self(.paths, "a query on a collection omits the collections below it") { store in
            try await store.set(["a": 1], "up")
            let below = store.path("up").collection(store.name).document("down")
            try await store.client.setDocument(below, ["a": 1])
            #expect(try await store.ids(store.query) == ["up"])
        },
        Self(.paths, "a query on a collection omits collections with a longer name") { store in
            let longer = CollectionPath(store.name + "s")
            try await store.client.setDocument(longer.document("x"), ["a": 1])
            #expect(try await store.ids(store.query).isEmpty)
        },
        Self(.paths, "collections with canonically equivalent names are separate") { store in
            let one = CollectionPath(store.name + "\u{e9}")
            let other = CollectionPath(store.name + "e\u{301}")
            try await store.client.setDocument(one.document("x"), ["n": 1])
            try await store.client.setDocument(other.document("y"), ["n": 2])
            #expect(try await store.ids(DocumentQuery(one)) == ["x"])
            #expect(try await store.ids(DocumentQuery(other)) == ["y"])
        },
        Self(.paths, "a query on a document path is rejected") { store in
            let query = DocumentQuery(CollectionPath("\(store.name)/a"))
            await store.expect(.invalidArgument) { _ = try await store.ids(query) }
        },
    ]
}
