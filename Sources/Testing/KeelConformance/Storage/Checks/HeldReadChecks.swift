import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    static let heldReads: [Self] = [
        held("can be read in pages despite concurrent writes") { store in
            try await store.fill(all: (0..<30).map { ("\(10 + $0)", ["n": .integer(0)]) })
            var request = ReadRequest(.query(try store.page(after: nil)))
            request.holdDuration = .seconds(30)
            let first = try await store.adapter.read(request)
            let time = try #require(first.time)
            var documents = try first.found
            var last = documents.last
            while let page = last {
                try await store.meddle()
                var next = ReadRequest(.query(try store.page(after: page)))
                // Hundreds of writes may take longer than one hold.
                (next.asOf, next.holdDuration) = (time, .seconds(30))
                let found = try await store.adapter.read(next).found
                documents += found
                last = found.last
            }
            #expect(documents.map(\.id) == (0..<30).map { "\(10 + $0)" })
            #expect(documents.allSatisfy { $0["n"] == 0 })
            #expect(try await store.client.count(store.query) > 30)
        },
        held("returns the same results for every kind of read") { store in
            try await store.fill(["a": ["n": 1], "b": ["n": 2]])
            let query = try QueryValidation.checked(store.query)
            let operations: [ReadOperation] = [
                .documents([store.path("a"), store.path("c")]), .query(query),
                .aggregate(query, [.count(), .sum("n")]), .collections(under: store.path("a")),
            ]
            var request = ReadRequest(.documents([]))
            request.holdDuration = .seconds(30)
            request.needsPosition = true
            let first = try await store.adapter.read(request)
            let before = try await store.answers(operations, asOf: nil)
            try await store.fill(["b": ["n": 3], "c": ["n": 4]])
            try await store.client.deleteDocument(store.path("a"))
            try await store.client.setDocument(
                store.path("a").collection("below").document("x"),
                ["n": 1]
            )
            #expect(try await store.answers(operations, asOf: first.time) == before)
            #expect(try await store.answers(operations, asOf: nil) != before)
            var position = ReadRequest(.documents([]))
            (position.asOf, position.needsPosition) = (first.time, true)
            #expect(try await store.adapter.read(position).position == first.position)
        },
        held("remains until the last reader releases it") { store in
            try await store.fill(["a": ["n": 1]])
            var hold = ReadRequest(.documents([store.path("a")]))
            hold.holdDuration = .seconds(30)
            let time = try #require(try await store.adapter.read(hold).time)
            #expect(try await store.adapter.read(hold).time == time)
            try await store.fill(["a": ["n": 2]])
            var past = ReadRequest(.documents([store.path("a")]))
            past.asOf = time
            var end = past
            end.holdDuration = .zero
            _ = try await store.adapter.read(end)
            let documents = try await store.adapter.read(past).documents
            #expect(documents.first??["n"] == 1)
            _ = try await store.adapter.read(end)
            // A history still has the state.
            guard !store.adapter.capabilities.contains(.pointInTimeReads) else { return }
            let error = await #expect(throws: StorageError.self) {
                try await store.adapter.read(past)
            }
            #expect(error?.code == .snapshotTooOld)
        },
        held("is not released by a read that fails", needs: .checkedReads) { store in
            try await store.fill(["a": ["n": 1]])
            var hold = ReadRequest(.documents([]))
            hold.holdDuration = .seconds(30)
            let time = try #require(try await store.adapter.read(hold).time)
            var failing = ReadRequest(.documents([]))
            (failing.asOf, failing.holdDuration) = (time, .zero)
            failing.reads = TransactionReads(
                documents: [.init(path: store.path("a"), revision: nil)]
            )
            let error = await #expect(throws: StorageError.self) {
                try await store.adapter.read(failing)
            }
            #expect(error?.code == .conflict)
            try await store.fill(["a": ["n": 2]])
            var past = ReadRequest(.documents([store.path("a")]))
            past.asOf = time
            let documents = try await store.adapter.read(past).documents
            #expect(documents.first??["n"] == 1)
        },
    ]

    private static func held(
        _ promise: String,
        needs more: StorageCapabilities = [],
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        var needs: StorageCapabilities = [.heldReads, .aggregation, .collectionListing]
        needs.formUnion(more)
        return Self(.pointInTime, "a held state \(promise)", needs: needs, body)
    }
}

extension StoreUnderTest {
    fileprivate func page(after document: Document?) throws -> DocumentQuery {
        let query = query.limit(to: 4)
        return try QueryValidation.checked(document.map { query.start(after: $0) } ?? query)
    }

    fileprivate func meddle() async throws {
        for document in try await client.queryDocuments(query) {
            try await client.updateDocument(document.path, [.increment("n", by: 1)])
        }
        for prefix in ["0", "1", "2", "3", "4"] {
            try await set(["n": 100], prefix + DocumentPath.randomID())
        }
        try await client.deleteDocument(path("39"))
    }

    fileprivate func answers(
        _ operations: [ReadOperation],
        asOf time: Timestamp?
    ) async throws -> [String] {
        var answers: [String] = []
        for operation in operations {
            var request = ReadRequest(operation)
            request.asOf = time
            answers.append("\(try await adapter.read(request).payload)")
        }
        return answers
    }
}
