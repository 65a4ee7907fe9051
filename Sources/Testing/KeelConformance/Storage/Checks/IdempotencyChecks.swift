import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    package static let idempotency: [Self] = [
        once("committing a batch again changes nothing") { store in
            let id = DocumentPath.randomID()
            try await store.set(["n": 0])
            for _ in 0..<3 { try await increment(store, id) }
            #expect(try await store.fields() == ["n": 1])
        },
        once("committing a batch again returns the first receipt") { store in
            let id = DocumentPath.randomID()
            try await store.set(["n": 0])
            let first = try await increment(store, id)
            #expect(first.batchID == id)
            let second = try await increment(store, id)
            #expect(second.batchID == first.batchID)
            #expect(second.commitTime == first.commitTime)
            #expect(second.outcomes == first.outcomes)
        },
        once("a repeated batch changes nothing even if the document has since changed") { store in
            let id = DocumentPath.randomID()
            try await store.commit(id: id, .set(["n": 1], at: store.path()))
            try await store.set(["n": 2])
            try await store.commit(id: id, .set(["n": 1], at: store.path()))
            #expect(try await store.fields() == ["n": 2])
        },
        once("a repeated batch succeeds even if its condition no longer holds") { store in
            let id = DocumentPath.randomID()
            for _ in 0..<2 {
                try await store.commit(
                    id: id,
                    .set(["n": 1], at: store.path(), if: .isMissing)
                )
            }
            #expect(try await store.fields() == ["n": 1])
        },
        once("a batch whose id appears twice in one commit applies once") { store in
            let id = DocumentPath.randomID()
            let write = DocumentWrite.update(
                store.path(),
                [.compute("n", .increment(1))],
                if: .none
            )
            let batch = WriteBatch(id: id, [write])
            let results = try await store.adapter.commit([batch, batch])
            #expect(try results.map { try $0.get().outcomes.count } == [1, 1])
            #expect(try await store.fields() == ["n": 1])
        },
        once("a rejected batch is not remembered and can succeed later") { store in
            let id = DocumentPath.randomID()
            await store.expect(.documentNotFound) { try await increment(store, id) }
            try await store.set(["n": 5])
            try await increment(store, id)
            #expect(try await store.fields() == ["n": 6])
        },
        once("batches with different ids both apply") { store in
            try await store.set(["n": 0])
            for _ in 0..<2 { try await increment(store, DocumentPath.randomID()) }
            #expect(try await store.fields() == ["n": 2])
        },
        once("ids are distinguished by their bytes") { store in
            let id = DocumentPath.randomID()
            try await store.set(["n": 0])
            for form in ["\u{e9}", "e\u{301}"] { try await increment(store, id + form) }
            #expect(try await store.fields() == ["n": 2])
        },
        once("an id has at most 1,500 bytes") { store in
            let id = DocumentPath.randomID()
            try await store.set(["n": 0])
            let long = id + String(repeating: "x", count: 1_500 - id.utf8.count)
            for _ in 0..<2 { try await increment(store, long) }
            await store.expect(.invalidArgument) { try await increment(store, long + long) }
            #expect(try await store.fields() == ["n": 1])
        },
        once("a batch committed by many tasks concurrently applies once") { store in
            let id = DocumentPath.randomID()
            try await store.set(["n": 0])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { try await increment(store, id) } }
                try await group.waitForAll()
            }
            #expect(try await store.fields() == ["n": 1])
        },
        Self(.idempotency, "a batch without an id applies each time it is committed") { store in
            try await store.set(["n": 0])
            for _ in 0..<3 {
                try await store.commit(.update(store.path(), [.compute("n", .increment(1))]))
            }
            #expect(try await store.fields() == ["n": 3])
        },
    ]

    private static func once(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.idempotency, promise, needs: .idempotentCommits, body)
    }

    @discardableResult
    private static func increment(
        _ store: StoreUnderTest,
        _ id: String
    ) async throws -> CommitReceipt {
        try await store.commit(
            id: id,
            .update(store.path(), [.compute("n", .increment(1))])
        )
    }
}
