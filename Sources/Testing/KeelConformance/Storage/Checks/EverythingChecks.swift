import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    package static let everything: [Self] = [
        below("finds documents at every depth in path order", tree) { $0 },
        below("orders by path in descending order", tree.reversed()) {
            $0.order(by: .documentID, .descending)
        },
        below("respects its limit", Array(tree.prefix(3))) { $0.limit(to: 3) },
        below("respects its offset across deeper collections", Array(tree[2...4])) {
            $0.offset(2).limit(to: 3)
        },
        below("respects limit(toLast:)", Array(tree.suffix(2))) {
            $0.order(by: .documentID).limit(toLast: 2)
        },
        Self(
            .everything,
            "a query over everything continues after a document with the documents below it"
        ) { store in
            try await store.fillTree()
            let query = store.tree.order(by: .documentID).limit(to: 1)
            var found: [String] = []
            var next = query
            while let document = try await store.client.queryDocuments(next).first {
                found.append(store.relative(document.path))
                try #require(found.count <= tree.count)
                next = query.start(after: .reference(document.path))
            }
            #expect(found == tree)
        },
        Self(.everything, "a query over everything accepts missing documents as bounds") {
            store in
            try await store.fillTree()
            let query = store.tree.order(by: .documentID)
            let start = DocumentValue.reference(store.inTree("b/none"))
            let end = DocumentValue.reference(store.inTree("b/xx"))
            let found = try await store.client.queryDocuments(query.start(at: start).end(at: end))
            #expect(found.map { store.relative($0.path) } == ["b/x", "b/x/c/1"])
            let rest = try await store.client.queryDocuments(
                query.order(backwardsFrom: start).end(at: .reference(store.inTree("a/2")))
            )
            #expect(
                rest.map { store.relative($0.path) } == ["a-/1", "a/é/b/1", "a/2/z/1/z/1", "a/2"]
            )
        },
        Self(.everything, "a query over everything supports conditions on document ids") { store in
            try await store.fillTree()
            let paths = ["a/2", "b/x/c/1", "b/none"].map {
                DocumentValue.reference(store.inTree($0))
            }
            let named = store.tree.where(.in(.documentID, paths))
            #expect(
                try await store.client.queryDocuments(named).map { store.relative($0.path) }
                    == ["a/2", "b/x/c/1"]
            )
            let greater = store.tree.where(.greater(.documentID, paths[1]))
            #expect(
                try await store.client.queryDocuments(greater).map { store.relative($0.path) }
                    == ["b/y"]
            )
        },
        Self(.everything, "a query over everything without a parent also finds top-level documents")
        {
            store in
            try await store.fillTree()
            try await store.set(["n": 1], "top")
            // The store may be shared, but only this check's documents lie between the bounds.
            let query = DocumentQuery.everything().order(by: .documentID)
                .start(at: .reference(store.path("root")))
                .end(at: .reference(store.path("top")))
            let found = try await store.client.queryDocuments(query).map(\.path)
            let others = ["root-/a/1", "roots/a/1", "top"]
            #expect(
                found == tree.map(store.inTree) + others.map(store.inCollection)
            )
        },
        // A store without a change log need not take names of Keel's own.
        Self(
            .everything,
            "a query over everything omits Keel’s own documents",
            needs: .changeLog
        ) { store in
            try await store.fillTree()
            let own = CollectionPath("__\(store.name)__").document("own")
            try await store.commit(DocumentWrite(own, .set(DocumentBody(["n": 1]))))
            let query = DocumentQuery.everything().order(by: .documentID)
                .start(at: .reference(own)).end(at: .reference(own))
            #expect(try await store.client.queryDocuments(query).isEmpty)
            try await store.commit(DocumentWrite(own, .delete))
        },
        Self(.everything, "a query over everything can be counted", needs: .aggregation) { store in
            try await store.fillTree()
            #expect(try await store.client.count(store.tree) == tree.count)
            #expect(try await store.client.count(store.tree.limit(to: 2)) == 2)
        },
        Self(
            .everything,
            "a query over everything sums a field of the documents that have it, up to its limit",
            needs: .aggregation
        ) { store in
            try await store.fillTree()
            for (place, number) in [("a/1", 4), ("b/y", 2), ("a/2/z/1/z/1", 1)] {
                try await store.client.setDocument(
                    store.inTree(place),
                    ["sum": .integer(Int64(number))]
                )
            }
            let all = try await store.client.aggregate(store.tree, [.sum("sum")])
            #expect(all == [7])
            let first = try await store.client.aggregate(
                store.tree.limit(to: 2),
                [.sum("sum"), .average("sum")]
            )
            #expect(first == [3, 1.5])
        },
        Self(.everything, "a query over everything can read the past", needs: .pointInTimeReads) {
            store in
            try await store.fillTree()
            var request = ReadRequest(.documents([]))
            request.needsTime = true
            let time = try #require(try await store.adapter.read(request).time)
            try await store.client.deleteDocument(store.inTree("a/2/z/1/z/1"))
            try await store.client.setDocument(store.inTree("b/x/c/2"), ["n": 1])
            var past = ReadRequest(.query(try QueryValidation.checked(store.tree.limit(to: 100))))
            past.asOf = time
            let found = try await store.adapter.read(past).found
            #expect(found.map { store.relative($0.path) } == tree)
        },
        Self(.everything, "a query over everything rejects conditions and orders on fields") {
            store in
            await store.expect(.invalidArgument) {
                _ = try await store.client.queryDocuments(store.tree.where(.equal("n", 1)))
            }
            await store.expect(.invalidArgument) {
                _ = try await store.client.queryDocuments(store.tree.order(by: "n"))
            }
        },
        Self(
            .everything,
            "the change log of a query over everything reports all documents below its parent",
            needs: .changeLog
        ) { store in
            let scope = ChangeScope.query(store.tree)
            let start = try await store.adapter.changes(ChangeRequest(scope: scope)).next
            try await store.fillTree()
            var request = ChangeRequest(after: start, scope: scope)
            var told: Set<DocumentPath> = []
            while true {
                let page = try await store.adapter.changes(request)
                for case .current(let document) in page.changes { told.insert(document.path) }
                if page.isCaughtUp { break }
                request.after = page.next
            }
            #expect(told == Set(tree.map(store.inTree)))
        },
    ]

    /// The documents below the root document, in order.
    fileprivate static let tree = [
        "a/1", "a/2", "a/2/z/1/z/1", "a/é/b/1", "a-/1", "b/x", "b/x/c/1", "b/y",
    ]

    private static func below(
        _ promise: String,
        _ expected: [String],
        _ query: @escaping @Sendable (DocumentQuery) -> DocumentQuery
    ) -> Self {
        Self(.everything, "a query over everything below a document \(promise)") { store in
            try await store.fillTree()
            let found = try await store.client.queryDocuments(query(store.tree))
            #expect(found.map { store.relative($0.path) } == expected)
        }
    }
}

extension DocumentQuery {
    fileprivate func order(backwardsFrom start: DocumentValue) -> DocumentQuery {
        var query = self
        query.orders = [Order(.documentID, .descending)]
        return query.start(at: start)
    }
}

extension StoreUnderTest {
    fileprivate var tree: DocumentQuery { .everything(under: path("root")) }

    fileprivate func inTree(_ place: String) -> DocumentPath {
        inCollection("root/\(place)")
    }

    /// Returns a path below the check's collection.
    ///
    /// An interpolated path literal would keep each value in one segment.
    fileprivate func inCollection(_ place: String) -> DocumentPath {
        let path = "\(name)/\(place)"
        return DocumentPath(path)
    }

    fileprivate func relative(_ path: DocumentPath) -> String {
        String(path.string.dropFirst(self.path("root").string.count + 1))
    }

    /// Stores a tree of documents, some below missing documents, and some with similar paths.
    fileprivate func fillTree() async throws {
        // In a different order from the expected one.
        for place in StorageAdapterCheck.tree.reversed() {
            try await client.setDocument(inTree(place), ["n": 1])
        }
        for outside in ["roo", "root-/a/1", "roots/a/1"] {
            try await client.setDocument(inCollection(outside), ["n": 1])
        }
    }
}
