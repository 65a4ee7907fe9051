import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let collectionGroups: [Self] = [
        grouped("finds documents at every depth", ["top", "one", "deep", "two"]) { $0 },
        grouped("orders by path by default", ["top", "one", "deep", "two"]) {
            $0.order(by: .documentID)
        },
        grouped("orders by path in descending order", ["two", "deep", "one", "top"]) {
            $0.order(by: .documentID, .descending)
        },
        grouped("orders by a field across collections", ["deep", "one", "top", "two"]) {
            $0.order(by: "n")
        },
        grouped("breaks ties by path across collections", ["two", "deep", "one", "top"]) {
            $0.order(by: "same", .descending)
        },
        grouped("filters across collections", ["one", "two"]) { $0.where(.equal("level", 1)) },
        grouped("limits the result as a whole", ["deep", "one"]) { $0.order(by: "n").limit(to: 2) },
        grouped("applies an offset to the result as a whole", ["top", "two"]) {
            $0.order(by: "n").offset(2)
        },
        grouped("continues after a value", ["top", "two"]) { $0.order(by: "n").start(after: 2) },
        Self(.collectionGroups, "a group below a document finds only documents below it") { store in
            try await store.fillGroup()
            let query = DocumentQuery(group: store.group, under: store.path("a"))
            #expect(try await store.ids(query) == ["one", "deep"])
        },
        Self(
            .collectionGroups,
            "a group below a document omits a document whose id has the same prefix"
        ) {
            store in
            try await store.fillGroup()
            try await store.client.setDocument(
                store.path("ab").collection(store.group).document("near"),
                ["n": 9]
            )
            let query = DocumentQuery(group: store.group, under: store.path("a"))
            #expect(try await store.ids(query) == ["one", "deep"])
        },
        Self(.collectionGroups, "a group below a document without such a collection finds nothing")
        { store in
            try await store.fillGroup()
            let query = DocumentQuery(group: store.group, under: store.path("none"))
            #expect(try await store.ids(query).isEmpty)
        },
        Self(.collectionGroups, "a group below a document does not find that document") { store in
            try await store.set(["n": 0], "a")
            try await store.fillGroup()
            let query = DocumentQuery(group: store.group, under: store.path("a"))
            #expect(try await store.ids(query) == ["one", "deep"])
        },
        Self(.collectionGroups, "a group compares ids as full paths") { store in
            try await store.fillGroup()
            let path = store.path("a").collection(store.group).document("one").string
            let query = DocumentQuery(group: store.group)
            #expect(
                try await store.ids(query.where(.equal(.documentID, .string(path)))) == ["one"]
            )
            await store.expect(.invalidArgument) {
                _ = try await store.ids(query.where(.equal(.documentID, "one")))
            }
        },
        Self(
            .collectionGroups,
            "a group distinguishes documents with the same id in two collections"
        ) {
            store in
            let paths = ["a", "b"].map { store.path($0).collection(store.group).document("same") }
            for path in paths { try await store.client.setDocument(path, ["n": 1]) }
            let query = DocumentQuery(group: store.group)
            #expect(try await store.client.queryDocuments(query).map(\.path) == paths)
        },
        Self(.collectionGroups, "a page of a group continues after a document’s full path") {
            store in
            let paths = ["a", "b", "c"].map { store.path($0).collection(store.group).document("x") }
            for path in paths { try await store.client.setDocument(path, ["n": 1]) }
            let query = DocumentQuery(group: store.group).order(by: "n")
            let second = try await store.client.getDocument(paths[1])
            let rest = try await store.client.queryDocuments(query.start(after: second))
            #expect(rest.map(\.path) == [paths[2]])
        },
        Self(.collectionGroups, "a deleted document leaves the group") { store in
            try await store.fillGroup()
            try await store.client.deleteDocument(
                store.path("a").collection(store.group).document("one")
            )
            #expect(
                try await store.ids(DocumentQuery(group: store.group)) == ["top", "deep", "two"]
            )
        },
        Self(.collectionGroups, "a group’s name must be one segment") { store in
            await store.expect(.invalidArgument) {
                _ = try await store.ids(DocumentQuery(group: "\(store.name)/a/b"))
            }
        },
    ]

    private static func grouped(
        _ promise: String,
        _ expected: [String],
        _ query: @escaping @Sendable (DocumentQuery) -> DocumentQuery
    ) -> Self {
        Self(.collectionGroups, "a group \(promise)") { store in
            try await store.fillGroup()
            #expect(try await store.ids(query(DocumentQuery(group: store.group))) == expected)
        }
    }
}

extension StoreUnderTest {
    /// The name of the check's group, which sorts before the check's collection.
    fileprivate var group: String { "A" + name }

    /// Stores four documents of the group at three depths, and some with similar paths.
    fileprivate func fillGroup() async throws {
        let documents: [(DocumentPath, DocumentFields)] = [
            (CollectionPath(group).document("top"), ["n": 3, "level": 0, "same": 0]),
            (path("a").collection(group).document("one"), ["n": 2, "level": 1, "same": 0]),
            (path("b").collection(group).document("two"), ["n": 4, "level": 1, "same": 0]),
            (
                path("a").collection("z").document("y").collection(group).document("deep"),
                ["n": 1, "level": 2, "same": 0]
            ),
            (CollectionPath(group + "s").document("longer"), ["n": 5]),
            (path("a").collection("x" + group).document("suffix"), ["n": 6]),
            (path(group).collection("other").document("as id"), ["n": 7]),
        ]
        for (path, fields) in documents { try await client.setDocument(path, fields) }
    }
}
