import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    package static let transactions: [Self] =
        documentReadChecks + queryReadChecks + frontChecks + momentChecks

    private static let documentReadChecks: [Self] = [
        validated("a batch that read unchanged documents is committed", takes: true) { _ in },
        validated("a changed document that was read") { try await $0.set(["n": 2], "read") },
        validated("a deleted document that was read") { store in
            try await store.client.deleteDocument(store.path("read"))
        },
        validated("a document that was read and then deleted and recreated unchanged") { store in
            try await store.client.deleteDocument(store.path("read"))
            try await store.set(["n": 1], "read")
        },
        validated("a document that was missing and now exists") { store in
            try await store.set(["n": 1], "missing")
        },
        validated("changes of documents that were not read do not conflict", takes: true) { store in
            try await store.set(["n": 1], "unread")
        },
        validated(
            "a write that does not change a document that was read does not conflict",
            takes: true
        ) {
            store in
            try await store.set(["n": 1], "read")
        },
        transaction("a batch can write the documents that it read") { store in
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
        transaction("reads are checked even if nothing is written") { store in
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
        let promise = takes ? what : "\(what) causes a conflict, and nothing is written"
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
        queried("a batch with an unchanged query result is committed", takes: true) { _ in },
        queried("a document that newly matches the query") { store in
            try await store.set(["n": 2], "e")
        },
        queried("a document that no longer matches the query") { store in
            try await store.set(["n": -1], "b")
        },
        queried("a changed document of the result that still matches") { store in
            try await store.update("b", .put("other", 1))
        },
        queried("a deleted document of the result") { store in
            try await store.client.deleteDocument(store.path("a"))
        },
        queried("a changed order of the result") { store in
            try await store.update("a", .put("n", 4))
        },
        queried("a document that displaces another from a limited result") { store in
            try await store.set(["n": 0], "0")
        },
        queried("changes of documents that do not match the query do not conflict", takes: true) {
            store in
            try await store.set(["n": -7], "z")
        },
        queried("changes of documents beyond the query’s limit do not conflict", takes: true) {
            store in
            try await store.set(["n": 9], "z")
        },
    ]

    /// Returns a check of a transaction that has run a limited query, with concurrent writes.
    private static func queried(
        _ what: String,
        takes: Bool = false,
        _ meanwhile: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        let promise = takes ? what : "\(what) causes a conflict, and nothing is written"
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
