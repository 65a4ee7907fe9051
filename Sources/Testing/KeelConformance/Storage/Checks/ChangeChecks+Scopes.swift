import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    static let scopeChecks: [Self] = [
        log("a reader of one document receives changes of no others") { store in
            var follower = ChangeFollower(
                store,
                after: try await store.position(),
                scope: .documents([store.path("a"), store.path("missing")])
            )
            try await store.set(["n": 1], "a")
            try await store.set(["n": 1], "b")
            try await store.client.setDocument(store.below("a"), ["n": 1])
            try await follower.catchUp()
            #expect(follower.changes.map(\.path) == [store.path("a")])
            try await store.client.deleteDocument(store.path("a"))
            try await store.client.deleteDocument(store.path("b"))
            try await follower.catchUp()
            #expect(follower.documents.isEmpty)
            #expect(follower.changes.map(\.path.id) == ["a", "a"])
        },
        log("a copy of some documents contains only them") { store in
            let ids = ["a", "b", "c", "d", "e"]
            for id in ids { try await store.set(["n": 1], id) }
            let wanted = ["b", "d", "e", "none"].map { store.path($0) }
            for limit in [1, 2, 500] {
                var follower = ChangeFollower(store, after: nil, scope: .documents(Set(wanted)))
                try await follower.catchUp(limit: limit)
                #expect(Set(follower.documents.keys) == Set(wanted.dropLast()))
            }
        },
        log("a reader of a group receives changes of all its collections, including new ones") {
            store in
            let name = store.name + "g"
            let first = store.path("a").collection(name)
            try await store.client.setDocument(first.document("1"), ["n": 1])
            var copy = ChangeFollower(store, after: nil, scope: .groups([name]))
            try await copy.catchUp()
            #expect(copy.documents.keys.map(\.id) == ["1"])
            let later = store.path("b").collection(name)
            try await store.client.setDocument(later.document("2"), ["n": 1])
            try await store.client.setDocument(CollectionPath(name).document("3"), ["n": 1])
            try await store.set(["n": 1])
            try await copy.catchUp()
            #expect(copy.changes.map(\.path.id) == ["1", "2", "3"])
        },
        log("scopes of several kinds can be combined") { store in
            let name = store.name + "g"
            let other = CollectionPath(store.name + "x")
            var scope = ChangeScope.documents([store.path("a")])
            scope.formUnion(.collections([other]))
            scope.formUnion(.groups([name]))
            var follower = ChangeFollower(store, after: try await store.position(), scope: scope)
            try await store.set(["n": 1], "a")
            try await store.set(["n": 1], "b")
            try await store.client.setDocument(other.document("c"), ["n": 1])
            let inGroup = store.path("b").collection(name).document("d")
            try await store.client.setDocument(inGroup, ["n": 1])
            try await store.client.setDocument(store.below("b"), ["n": 1])
            try await follower.catchUp()
            #expect(follower.changes.map(\.path.id) == ["a", "c", "d"])
        },
        log("a reader of a query stays in step with its result") { store in
            let query = store.query.where(.greater("n", 5))
            for number in Int64(0)..<10 {
                try await store.set(["n": .integer(number)], "\(number)")
            }
            for limit in [1, 3, 500] {
                var follower = ChangeFollower(store, after: nil, scope: .query(query))
                try await follower.catchUp(limit: limit)
                try await store.set(["n": 6], "1")
                try await store.set(["n": 1], "9")
                try await store.client.deleteDocument(store.path("8"))
                try await store.set(["n": 3], "2")
                try await follower.catchUp(limit: limit)
                let found = try await store.client.queryDocuments(query)
                // The page may report more documents than the query finds, but never fewer.
                let kept = follower.documents.values.filter { ($0["n"]?.integerValue ?? 0) > 5 }
                #expect(Set(kept) == Set(found))
                #expect(follower.documents[store.path("9")].map { $0["n"] == 1 } ?? true)
                for (id, number) in [("1", 1), ("2", 2), ("8", 8), ("9", 9)] {
                    try await store.set(["n": .integer(Int64(number))], id)
                }
            }
        },
        log("a document that stops matching a query is reported") { store in
            try await store.set(["n": 9])
            var follower = ChangeFollower(
                store,
                after: nil,
                scope: .query(store.query.where(.greater("n", 5)))
            )
            try await follower.catchUp()
            let count = follower.changes.count
            try await store.set(["n": 1])
            try await follower.catchUp()
            let told = Array(follower.changes.dropFirst(count))
            let document = try await store.document()
            #expect(told == [.leftScope(store.path())] || told == [.current(document)])
        },
        log("a scope can be widened after a consistent point") { store in
            var follower = ChangeFollower(
                store,
                after: try await store.position(),
                scope: .documents([store.path("a")])
            )
            try await store.set(["n": 1], "a")
            try await store.set(["n": 1], "b")
            try await follower.catchUp()
            follower.scope.formUnion(.documents([store.path("b")]))
            try await store.set(["n": 2], "b")
            try await follower.catchUp()
            #expect(follower.changes.map(\.path.id) == ["a", "b"])
        },
    ]

    private static func origin(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.changes, promise, needs: [.changeLog, .origins], body)
    }

    static let originChecks: [Self] = [
        origin("a change contains the mutation that caused it") { store in
            let start = try await store.position()
            try await store.mutate(7, .set(["n": 1], at: store.path("own")))
            try await store.set(["n": 1], "other")
            let page = try await store.page(after: start)
            let own = ChangeOrigin(client: store.name, mutation: 7)
            #expect(page.origins == [store.path("own"): own])
            try await store.mutate(8, DocumentWrite(store.path("own"), .delete))
            let next = try await store.page(after: page.next)
            #expect(next.origins[store.path("own")]?.mutation == 8)
        },
        origin("a state written by another client does not keep the previous origin") {
            store in
            let start = try await store.position()
            try await store.mutate(1, .set(["n": 1], at: store.path()))
            try await store.set(["n": 2])
            for limit in [1, 500] {
                var cursor = start
                while true {
                    let page = try await store.page(after: cursor, limit: limit)
                    #expect(page.origins.isEmpty)
                    cursor = page.next
                    if page.isCaughtUp { break }
                }
            }
        },
        origin("a consistent point acknowledges mutations whose documents were overwritten") {
            store in
            let start = try await store.position()
            for number in Int64(1)...3 {
                try await store.mutate(number, .set(["n": .integer(number)], at: store.path()))
            }
            try await store.set(["n": 99])
            let page = try await store.page(after: start)
            #expect(page.isCaughtUp)
            #expect(page.acknowledged == [store.name: 3])
        },
        origin("mutations that are out of scope or change nothing are acknowledged") { store in
            let start = try await store.position()
            let other = CollectionPath(store.name + "x").document("1")
            try await store.mutate(1, .set(["n": 1], at: other))
            #expect(try await store.page(after: start).acknowledged == [store.name: 1])
            try await store.mutate(2, .set(["n": 1], at: other))
            #expect(try await store.page(after: start).acknowledged == [store.name: 2])
            #expect(try await store.page(after: nil).acknowledged == [store.name: 2])
        },
        origin("a page before the consistent point acknowledges nothing") { store in
            let start = try await store.position()
            for id in ["a", "b"] { try await store.set(["n": 1], id) }
            try await store.mutate(1, .set(["n": 1], at: store.path("c")))
            let page = try await store.page(after: start, limit: 1)
            #expect(!page.isCaughtUp)
            #expect(page.acknowledged.isEmpty)
        },
        origin("the name of a client has at most 1,500 bytes") { store in
            let start = try await store.position()
            let name = store.name + String(repeating: "x", count: 1_500 - store.name.utf8.count)
            func commit(_ client: String) async throws {
                let write = DocumentWrite(store.path(), .set(DocumentBody(["n": 1])))
                let batch = WriteBatch([write], origin: ChangeOrigin(client: client, mutation: 1))
                for result in try await store.adapter.commit([batch]) { _ = try result.get() }
            }
            try await commit(name)
            await store.expect(.invalidArgument) { try await commit(name + name) }
            var request = ChangeRequest(after: start, scope: .collections([store.collection]))
            request.clients = [name]
            #expect(try await store.adapter.changes(request).acknowledged == [name: 1])
        },
        origin("rejected batches and other clients’ batches are not acknowledged") { store in
            let start = try await store.position()
            await store.expect(.documentNotFound) {
                try await store.mutate(5, .delete(store.path("missing"), if: .exists))
            }
            #expect(try await store.page(after: start).acknowledged.isEmpty)
            try await store.mutate(6, .set(["n": 1], at: store.path()))
            var request = ChangeRequest(after: start, scope: .collections([store.collection]))
            request.clients = [store.name + "-other"]
            #expect(try await store.adapter.changes(request).acknowledged.isEmpty)
        },
    ]
}

extension StoreUnderTest {
    /// Returns the path of a document in a collection below another document.
    fileprivate func below(_ id: String) -> DocumentPath {
        path(id).collection("below").document("x")
    }

    /// Commits a mutation of a client that is named like the store.
    fileprivate func mutate(_ number: Int64, _ write: DocumentWrite) async throws {
        let origin = ChangeOrigin(client: name, mutation: number)
        for result in try await adapter.commit([WriteBatch([write], origin: origin)]) {
            _ = try result.get()
        }
    }

    /// Returns a page of the collection's changes that acknowledges that client's mutations.
    fileprivate func page(after cursor: ChangeCursor?, limit: Int = 500) async throws -> ChangePage
    {
        var request = ChangeRequest(after: cursor, scope: .collections([collection]), limit: limit)
        request.clients = [name]
        return try await adapter.changes(request)
    }
}
