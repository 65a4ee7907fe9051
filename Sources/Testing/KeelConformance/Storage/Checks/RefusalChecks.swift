import KeelStorage
internal import KeelStorageAdapting
internal import KeelTestKit
import Testing

extension StorageAdapterCheck {
    /// The checks that an adapter refuses calls that need an undeclared capability, or does not depend on it.
    package static let refusals: [Self] = [
        Self(
            .refusals,
            "without a change log, requesting changes is unsupported",
            without: .changeLog
        ) {
            store in
            await store.expect(.unsupported) {
                _ = try await store.adapter.changes(ChangeRequest())
            }
        },
        Self(
            .refusals,
            "without query changes, following a query is unsupported",
            without: .queryChanges
        ) { store in
            await store.expect(.unsupported) {
                _ = try await store.adapter.changes(ChangeRequest(followingResultOf: store.query))
            }
        },
        Self(
            .refusals,
            "without transactions, commits with reads to validate are unsupported",
            without: .transactions
        ) {
            store in
            try await store.set(["n": 1])
            let read = TransactionReads.DocumentRead(
                path: store.path(),
                revision: try await store.document().revision
            )
            await store.expect(.unsupported) {
                try await store.commit(
                    .set(["n": 2], at: store.path()),
                    reads: TransactionReads(documents: [read])
                )
            }
            #expect(try await store.fields() == ["n": 1])
        },
        Self(
            .refusals,
            "without transactions, the front rejects one before its body runs",
            without: .transactions
        ) { store in
            await store.expect(.unsupported) {
                try await store.client.transaction { _ in
                    _ = Issue.record("the body has run")
                }
            }
        },
        Self(
            .refusals,
            "without checked reads, a read that depends on others is unsupported",
            without: .checkedReads
        ) { store in
            await store.expect(.unsupported) {
                var request = ReadRequest(.documents([store.path()]))
                let read = TransactionReads.DocumentRead(path: store.path("other"), revision: nil)
                request.reads = TransactionReads(documents: [read])
                _ = try await store.adapter.read(request)
            }
        },
        Self(
            .refusals,
            "without held reads, a read that holds its state is unsupported",
            without: .heldReads
        ) { store in
            await store.expect(.unsupported) {
                var request = ReadRequest(.documents([store.path()]))
                request.holdDuration = .seconds(1)
                _ = try await store.adapter.read(request)
            }
        },
        Self(
            .refusals,
            "without idempotent commits, a batch with an id is unsupported",
            without: .idempotentCommits
        ) { store async throws in
            await store.expect(.unsupported) {
                try await store.commit(id: "once", .set(["n": 1], at: store.path()))
            }
            #expect(try await store.fields() == nil)
        },
        Self(
            .refusals,
            "without origins, a batch with an origin is unsupported",
            without: .origins
        ) { store async throws in
            let write = try DocumentWrite.set(["n": 1], at: store.path())
            let batch = WriteBatch([write], origin: ChangeOrigin(client: store.name, mutation: 1))
            await store.expect(.unsupported) {
                for result in try await store.adapter.commit([batch]) { _ = try result.get() }
            }
            #expect(try await store.fields() == nil)
        },
        Self(
            .refusals,
            "without aggregation, an aggregate is unsupported by the adapter",
            without: .aggregation
        ) { store in
            await store.expect(.unsupported) {
                let query = try QueryValidation.checked(store.query)
                _ = try await store.adapter.read(ReadRequest(.aggregate(query, [.count()])))
            }
        },
        Self(.refusals, "without aggregation, the front still counts", without: .aggregation) {
            store in
            try await store.set(["n": 1])
            #expect(try await store.client.count(store.query) == 1)
        },
        Self(
            .refusals,
            "without declared indexes, a schema with indexes does not change results",
            without: .declaredIndexes
        ) { store in
            try await store.fillForIndexes()
            let query = store.query.where(.equal("a", 1)).order(by: "b")
            let before = try await store.ids(query)
            let components: [IndexDefinition.Component] = [.ascending("a"), .ascending("b")]
            let schema = StorageSchema(indexes: [IndexDefinition(store.name, components)])
            #expect(
                try await StorageClient(store.adapter, schema: schema).queryDocuments(query)
                    .map(\.id) == before
            )
        },
        Self(.refusals, "without replication, a replica is unsupported", without: .replication) {
            store async throws in
            let time = Timestamp(microseconds: 1)
            let replica = Document.stub(store.path(), ["n": 1], at: time)
            await store.expect(.unsupported) {
                try await store.commit(DocumentWrite(store.path(), .replicate(replica)))
            }
            #expect(try await store.fields() == nil)
        },
        Self(
            .refusals,
            "without collection listing, a listing is unsupported",
            without: .collectionListing
        ) { store in
            await store.expect(.unsupported) { _ = try await store.client.collections() }
            await store.expect(.unsupported) {
                _ = try await store.adapter.read(ReadRequest(.collections(under: nil)))
            }
        },
        Self(.refusals, "without text search, a search is unsupported", without: .textSearch) {
            store in
            let query = store.query.matching("word")
            await store.expect(.unsupported) { _ = try await store.ids(query) }
            await store.expect(.unsupported) {
                _ = try await store.adapter.read(ReadRequest(.query(query)))
            }
        },
        Self(
            .refusals,
            "without reads of the past, a read as of a time is unsupported",
            without: .pointInTimeReads
        ) { store in
            let time = try await store.set(["n": 1]).commitTime
            await store.expect(.unsupported) { _ = try store.client.asOf(time) }
            await store.expect(.unsupported) {
                var request = ReadRequest(.documents([store.path()]))
                request.asOf = time
                _ = try await store.adapter.read(request)
            }
        },
    ]
}
