import KeelCore
import KeelStorage
internal import KeelStorageAdapting
internal import KeelTestKit
import Synchronization
import Testing

extension StorageAdapterCheck {
    static let momentChecks: [Self] =
        moments("by paths") { transaction, store in
            let first = try await transaction.getDocument(store.path("a"))
            return [first, try await transaction.getDocument(store.path("b"))]
        }
        + moments("by a path and a query") { transaction, store in
            let first = try await transaction.getDocument(store.path("b"))
            return try await transaction.queryDocuments(store.query) + [first]
        }
        + moments("by a query and a path") { transaction, store in
            let found = try await transaction.queryDocuments(store.query)
            return try await found + [transaction.getDocument(store.path("a"))]
        }
        + moments("by two queries") { transaction, store in
            let found = try await transaction.queryDocuments(store.query.limit(to: 1))
            return try await found + transaction.queryDocuments(store.query)
        }
        + moments("at once") { transaction, store in
            async let first = transaction.getDocument(store.path("a"))
            async let second = transaction.getDocument(store.path("b"))
            async let found = transaction.queryDocuments(store.query)
            return try await [first, second] + found
        }
        + checkedReads

    /// Returns checks that a body never sees `a` and `b` at two different times, for each way in which the adapter
    /// can ensure that.
    private static func moments(
        _ how: String,
        _ read: @escaping @Sendable (StorageTransaction, StoreUnderTest) async throws -> [Document]
    ) -> [Self] {
        // A client checks its reads if the store can check them, and otherwise reads a past state.
        [
            (way: StorageCapabilities.checkedReads, hidden: StorageCapabilities()),
            (way: StorageCapabilities.pointInTimeReads, hidden: StorageCapabilities.checkedReads),
        ].flatMap { way, hidden in
            [
                Self(
                    .transactions,
                    "a body that reads \(how) sees no intermediate commit, with \(way)",
                    needs: [.transactions, way]
                ) { store in
                    try await store.setBoth(0)
                    let runs = Mutex<Int64>(0)
                    let meddled = store.patient(
                        MeddledStorageAdapter(
                            store.adapter,
                            without: hidden,
                            // After each of the first reads, both documents change together.
                            afterReads: { if $0 <= 3 { try await store.setBoth($0) } }
                        )
                    )
                    try await meddled.transaction { transaction in
                        runs.withLock { $0 += 1 }
                        let numbers = try await read(transaction, store).map { $0["n"] }
                        #expect(numbers.count > 1)
                        #expect(Set(numbers).count == 1, "the body saw \(numbers)")
                        try transaction.set(store.elsewhere, ["seen": true])
                    }
                    #expect(runs.withLock { $0 } > 1)
                },
                Self(
                    .transactions,
                    "bodies that read \(how) see only complete commits of many writers, with \(way)",
                    needs: [.transactions, way]
                ) { store in
                    try await store.setBoth(0)
                    let patient = store.patient(
                        MeddledStorageAdapter(store.adapter, without: hidden)
                    )
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for writer in Int64(1)...3 {
                            group.addTask {
                                for step in Int64(1)...15 {
                                    try await store.setBoth(writer * 100 + step)
                                }
                            }
                        }
                        for _ in 0..<3 {
                            group.addTask {
                                for _ in 0..<5 {
                                    try await patient.transaction {
                                        let numbers = try await read($0, store).map { $0["n"] }
                                        #expect(Set(numbers).count == 1, "saw \(numbers)")
                                    }
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                },
            ]
        }
    }

    private static let checkedReads: [Self] = [
        checked("is answered if they have not changed", takes: true) { _ in },
        checked("conflicts if a document has changed") { store in
            try await store.set(["n": 2], "a")
        },
        checked("conflicts if a missing document was created") { store in
            try await store.set(["n": 2], "z")
        },
        checked("conflicts if a query finds another document") { store in
            try await store.set(["n": 7], "c")
        },
        checked("is answered if other documents have changed", takes: true) { store in
            try await store.client.setDocument(
                store.elsewhere,
                ["n": 1]
            )
        },
    ]

    /// Returns a check of a read that depends on a document, a missing document and a query, with and without a
    /// position.
    private static func checked(
        _ promise: String,
        takes: Bool = false,
        _ meanwhile: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(
            .transactions,
            "a read that depends on other reads \(promise)",
            needs: [.transactions, .checkedReads]
        ) { store in
            try await store.setBoth(1)
            let query = try QueryValidation.checked(store.query)
            let documents = try await store.client.queryDocuments(query)
            let found = documents.map {
                TransactionReads.DocumentRead(path: $0.path, revision: $0.revision)
            }
            var position = ReadRequest(.documents([]))
            position.needsPosition = true
            for isKnown in [false, true] {
                var reads = TransactionReads(
                    documents: [found[0], .init(path: store.path("z"), revision: nil)],
                    queries: [.init(query: query, found: found)]
                )
                if isKnown { reads.position = try await store.adapter.read(position).position }
                if isKnown { try await meanwhile(store) }
                for operation in [
                    ReadOperation.documents([store.path("b")]), .query(query),
                    .documents([store.path("a"), store.path("b")]),
                ] {
                    var request = ReadRequest(operation)
                    request.reads = reads
                    request.needsPosition = true
                    if takes || !isKnown {
                        #expect(try await store.adapter.read(request).position != nil)
                    } else {
                        await store.expect(.conflict) { _ = try await store.adapter.read(request) }
                        request.reads?.position = nil
                        await store.expect(.conflict) { _ = try await store.adapter.read(request) }
                    }
                }
            }
        }
    }
}

extension StoreUnderTest {
    fileprivate var elsewhere: DocumentPath { CollectionPath(name + "x").document("other") }

    fileprivate func setBoth(_ number: Int64) async throws {
        try await client.commit([
            try .set(["n": .integer(number)], at: path("a")),
            try .set(["n": .integer(number)], at: path("b")),
        ])
    }

    /// Returns a client that tries transactions up to a thousand times, with minimal pauses.
    fileprivate func patient(_ adapter: any StorageAdapter) -> StorageClient {
        var configuration = StorageClient.Configuration()
        configuration.transactions = RetryPolicy(
            attempts: 1_000,
            baseDelay: .microseconds(1),
            maximumDelay: .milliseconds(1)
        )
        return StorageClient(adapter, configuration: configuration)
    }
}
