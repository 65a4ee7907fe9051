import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let changes: [Self] =
        deliveryChecks + pageChecks + copyChecks + waitChecks + timeChecks
        + scopeChecks + originChecks + removalChecks

    static func log(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.changes, promise, needs: .changeLog, body)
    }

    /// Returns a check of the changes that some writes report.
    private static func told(
        _ promise: String,
        before: @escaping @Sendable (StoreUnderTest) async throws -> Void = { _ in },
        _ writes: @escaping @Sendable (StoreUnderTest) async throws -> Void,
        _ expected: [String]
    ) -> Self {
        log(promise) { store in
            try await before(store)
            var follower = ChangeFollower(store, after: try await store.position())
            try await writes(store)
            try await follower.catchUp()
            let told = try follower.changes.map { change -> String in
                switch change {
                case .current(let document): "\(document.id) \(try document.fields())"
                case .removed(let path, _, _): "\(path.id) removed"
                case .leftScope(let path): "\(path.id) left"
                case .unreadable(let document): "\(document.path.id) unreadable"
                }
            }
            #expect(told == expected)
        }
    }

    private static let deliveryChecks: [Self] = [
        told("a new document is reported unchanged", { try await $0.set(["n": 1]) }, ["d [n: 1]"]),
        told(
            "an update is reported as the full document",
            before: { try await $0.set(["a": 1, "b": 2]) },
            { try await $0.update("d", .put("b", 3)) },
            ["d [a: 1, b: 3]"]
        ),
        told(
            "a deletion is reported",
            before: { try await $0.set(["a": 1]) },
            { try await $0.client.deleteDocument($0.path()) },
            ["d removed"]
        ),
        told("nothing is reported without changes", { _ in }, []),
        told(
            "a write that changes nothing is not reported",
            before: { try await $0.set(["a": 1]) },
            { store in
                try await store.set(["a": 1])
                try await store.update("d", FieldChange("x", .remove))
                try await store.commit(DocumentWrite(store.path(), .verify))
                try await store.client.deleteDocument(store.path("missing"))
            },
            []
        ),
        told(
            "a rejected batch is not reported",
            { store in
                await store.expect(.documentNotFound) {
                    try await store.commit(
                        .set(["a": 1], at: store.path()),
                        .delete(store.path("x"), if: .exists)
                    )
                }
            },
            []
        ),
        told(
            "changes of several documents are reported in commit order",
            { store in for id in ["c", "a", "b"] { try await store.set(["n": 1], id) } },
            ["c [n: 1]", "a [n: 1]", "b [n: 1]"]
        ),
        told(
            "other collections and subcollections are out of scope",
            { store in
                let below = store.path().collection(store.name).document("x")
                try await store.client.setDocument(below, ["n": 1])
                let other = CollectionPath(store.name + "x").document("x")
                try await store.client.setDocument(other, ["n": 1])
                try await store.set(["n": 1])
            },
            ["d [n: 1]"]
        ),
        log("a reported document equals the document returned by a read") { store in
            var follower = ChangeFollower(store, after: try await store.position())
            try await store.set(["a": 1])
            try await follower.catchUp()
            #expect(follower.changes == [.current(try await store.document())])
        },
        log("a deletion is reported with a revision above the document’s") { store in
            let before = try #require(try await store.set(["a": 1]).revision)
            var follower = ChangeFollower(store, after: try await store.position())
            try await store.client.deleteDocument(store.path())
            try await follower.catchUp()
            guard case .removed(_, let revision, _)? = follower.changes.last else {
                Issue.record("the deletion was not reported")
                return
            }
            #expect(revision > before)
        },
        log("a document that changes many times ends in its current state") { store in
            var follower = ChangeFollower(store, after: try await store.position())
            for number in Int64(0)..<20 { try await store.set(["n": .integer(number)]) }
            try await follower.catchUp(limit: 3)
            #expect(follower.changes.last == .current(try await store.document()))
        },
        log("a deleted and recreated document ends in its current state") { store in
            try await store.set(["a": 1])
            var follower = ChangeFollower(store, after: try await store.position())
            try await store.client.deleteDocument(store.path())
            try await store.set(["a": 2])
            try await follower.catchUp()
            #expect(follower.changes.last == .current(try await store.document()))
        },
        log("a created and deleted document ends as removed") { store in
            var follower = ChangeFollower(store, after: try await store.position())
            try await store.set(["a": 1])
            try await store.client.deleteDocument(store.path())
            try await follower.catchUp()
            #expect(follower.documents.isEmpty)
        },
        log("several collections can be followed at once") { store in
            let other = CollectionPath(store.name + "x")
            var follower = ChangeFollower(
                store,
                after: try await store.position(),
                scope: .collections([store.collection, other])
            )
            try await store.set(["n": 1], "a")
            try await store.client.setDocument(other.document("b"), ["n": 2])
            try await follower.catchUp()
            #expect(follower.changes.map(\.path.id) == ["a", "b"])
        },
        log("all collections can be followed at once") { store in
            var follower = ChangeFollower(
                store,
                after: try await store.position(),
                scope: .everything
            )
            let below = store.path("a").collection("below").document("b")
            try await store.set(["n": 1], "a")
            try await store.client.setDocument(below, ["n": 2])
            try await follower.catchUp()
            #expect(follower.documents[store.path("a")] != nil)
            #expect(follower.documents[below] != nil)
        },
    ]
}
