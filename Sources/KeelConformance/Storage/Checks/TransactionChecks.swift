import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    /// The checks of batches that depend on reads.
    public static let transactions: [Self] =
        documentReadChecks + queryReadChecks + frontChecks + momentChecks

    private static let documentReadChecks: [Self] = [
        validated("documents that have not changed let the batch through", takes: true) { _ in },
        validated("a read document that has changed") { try await $0.set(["n": 2], "read") },
        validated("a read document that is gone") { store in
            try await store.client.deleteDocument(store.path("read"))
        },
        validated("a read document that was deleted and created again as it was") { store in
            try await store.client.deleteDocument(store.path("read"))
            try await store.set(["n": 1], "read")
        },
        validated("a document that was missing and is there now") { store in
            try await store.set(["n": 1], "missing")
        },
        validated("a document that was not read may change", takes: true) { store in
            try await store.set(["n": 1], "unread")
        },
        validated("a write that changed nothing of a read document is no conflict", takes: true) {
            store in
            try await store.set(["n": 1], "read")
        },
        transaction("a batch may write what it has read") { store in
            try await store.set(["n": 1])
            let read = TransactionReads.DocumentRead(
                path: store.path(),
                revision: try await store.document().revision
            )
            try await store.commit(
                .update(store.path(), [.compute("n", .increment(1))]),
                reads: TransactionReads(documents: [read])
            )
            #expect(try await store.fields() == ["n": 2])
        },
        transaction("reads are checked even if there is nothing to write") { store in
            let read = TransactionReads.DocumentRead(
                path: store.path(),
                revision: Revision(number: 1)
            )
            await store.expect(.conflict) {
                try await store.commit(reads: TransactionReads(documents: [read]))
            }
        },
    ]

    /// Returns a check of a transaction that has found one document and missed another, with concurrent writes.
    private static func validated(
        _ what: String,
        takes: Bool = false,
        _ meanwhile: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        let promise = takes ? what : "\(what) is a conflict, and nothing is written"
        return transaction(promise) { store in
            try await store.set(["n": 1], "read")
            let reads = TransactionReads(documents: [
                .init(
                    path: store.path("read"),
                    revision: try await store.document("read").revision
                ),
                .init(path: store.path("missing"), revision: nil),
            ])
            try await meanwhile(store)
            let write = try DocumentWrite.set(["n": 1], at: store.path("written"))
            if takes {
                try await store.commit(write, reads: reads)
            } else {
                await store.expect(.conflict) { try await store.commit(write, reads: reads) }
            }
            #expect(try await store.fields("written") == (takes ? ["n": 1] : nil))
        }
    }

    private static let queryReadChecks: [Self] = [
        queried("a query whose result is the same lets the batch through", takes: true) { _ in },
        queried("a document that newly matches the query") { store in
            try await store.set(["n": 2], "e")
        },
        queried("a document that matches the query no longer") { store in
            try await store.set(["n": -1], "b")
        },
        queried("a document of the result that has changed and still matches") { store in
            try await store.update("b", .put("other", 1))
        },
        queried("a document of the result that is gone") { store in
            try await store.client.deleteDocument(store.path("a"))
        },
        queried("an order of the result that has changed") { store in
            try await store.update("a", .put("n", 4))
        },
        queried("a document that pushes another out of a limited result") { store in
            try await store.set(["n": 0], "0")
        },
        queried("a document that does not match the query may change", takes: true) { store in
            try await store.set(["n": -7], "z")
        },
        queried("a document beyond the query’s limit may change", takes: true) { store in
            try await store.set(["n": 9], "z")
        },
    ]

    /// Returns a check of a transaction that has run a limited query, with concurrent writes.
    private static func queried(
        _ what: String,
        takes: Bool = false,
        _ meanwhile: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        let promise = takes ? what : "\(what) is a conflict, and nothing is written"
        return transaction(promise) { store in
            try await store.fill(["a": ["n": 1], "b": ["n": 2], "c": ["n": 3], "d": ["n": 5]])
            let query = try QueryValidation.checked(
                store.query.where(.greaterOrEqual("n", 0)).limit(to: 3)
            )
            let found = try await store.client.queryDocuments(query)
            #expect(found.map(\.id) == ["a", "b", "c"])
            let read = TransactionReads.QueryRead(
                query: query,
                found: found.map { .init(path: $0.path, revision: $0.revision) }
            )
            try await meanwhile(store)
            let path = CollectionPath(store.name + "x").document("written")
            let write = try DocumentWrite.set(["n": 1], at: path)
            let reads = TransactionReads(queries: [read])
            if takes {
                try await store.commit(write, reads: reads)
            } else {
                await store.expect(.conflict) { try await store.commit(write, reads: reads) }
            }
            #expect((try await store.client.findDocument(path) != nil) == takes)
        }
    }

    static func transaction(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.transactions, promise, needs: .transactions, body)
    }
}
