import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    package static let batches: [Self] = atomicityChecks + sequenceChecks + sizeChecks

    private static let atomicityChecks: [Self] = [
        Self(.batches, "all writes of a batch take effect") { store in
            try await store.commit(
                .set(["n": 1], at: store.path("a")),
                .set(["n": 2], at: store.path("b")),
                .set(["n": 3], at: store.path("c"))
            )
            #expect(try await store.ids(store.query) == ["a", "b", "c"])
        },
        Self(.batches, "a rejected last write undoes the previous writes") { store in
            try await store.set(["n": 0], "old")
            await store.expect(.documentNotFound) {
                try await store.commit(
                    .set(["n": 1], at: store.path("new")),
                    .set(["n": 1], at: store.path("old")),
                    .delete(store.path("old")),
                    .update(store.path("missing"), [.put("n", 1)])
                )
            }
            #expect(try await store.ids(store.query) == ["old"])
            #expect(try await store.fields("old") == ["n": 0])
        },
        Self(.batches, "a rejected first write prevents the following writes") {
            store async throws in
            await store.expect(.documentNotFound) {
                try await store.commit(
                    .update(store.path("missing"), [.put("n", 1)]),
                    .set(["n": 1], at: store.path("new"))
                )
            }
            #expect(try await store.ids(store.query).isEmpty)
        },
        Self(.batches, "a rejected batch does not change revisions and times") { store in
            try await store.set(["n": 0])
            let before = try await store.document()
            await store.expect(.alreadyExists) {
                try await store.commit(
                    .set(["n": 1], at: store.path()),
                    DocumentWrite(store.path(), .verify, if: .isMissing)
                )
            }
            #expect(try await store.document() == before)
        },
        Self(.batches, "a failed batch does not prevent the following batches") { store in
            let results = try await store.adapter.commit([
                WriteBatch([.set(["n": 1], at: store.path("a"))]),
                WriteBatch([.update(store.path("missing"), [.put("n", 1)])]),
                WriteBatch([.set(["n": 3], at: store.path("c"))]),
            ])
            #expect(results.map { (try? $0.get()) != nil } == [true, false, true])
            #expect(try await store.ids(store.query) == ["a", "c"])
        },
        Self(.batches, "each batch has its own outcome, in batch order") { store in
            let results = try await store.adapter.commit([
                WriteBatch([.delete(store.path(), if: .exists)]),
                WriteBatch([.set(["n": 1], at: store.path(), if: .isMissing)]),
                WriteBatch([.set(["n": 2], at: store.path(), if: .isMissing)]),
            ])
            let codes = results.map { result -> StorageError.Code? in
                if case .failure(let error) = result { error.code } else { nil }
            }
            #expect(codes == [.documentNotFound, nil, .alreadyExists])
        },
        Self(.batches, "a batch sees the effects of previous batches in the call") { store in
            let results = try await store.adapter.commit([
                WriteBatch([.set(["n": 1], at: store.path())]),
                WriteBatch([.update(store.path(), [.compute("n", .increment(1))])]),
                WriteBatch([.update(store.path(), [.compute("n", .increment(1))])]),
            ])
            for result in results { _ = try result.get() }
            #expect(try await store.fields() == ["n": 3])
        },
    ]

    private static let sequenceChecks: [Self] = [
        Self(.batches, "the second of two sets of one document wins") { store in
            try await store.commit(
                .set(["a": 1], at: store.path()),
                .set(["b": 2], at: store.path())
            )
            #expect(try await store.fields() == ["b": 2])
        },
        Self(.batches, "a write sees the effects of previous writes on its document") { store in
            try await store.commit(
                .set(["n": 1], at: store.path()),
                .update(store.path(), [.compute("n", .increment(1))]),
                .update(store.path(), [.compute("n", .increment(1))])
            )
            #expect(try await store.fields() == ["n": 3])
        },
        Self(.batches, "a document deleted and set in one batch keeps no old fields") { store in
            try await store.set(["a": 1])
            try await store.commit(
                .delete(store.path()),
                .update(store.path(), [.put("b", 2)], if: .isMissing)
            )
            #expect(try await store.fields() == ["b": 2])
        },
        Self(.batches, "a document set and deleted in one batch is gone") { store in
            try await store.commit(.set(["a": 1], at: store.path()), .delete(store.path()))
            #expect(try await store.fields() == nil)
            #expect(try await store.ids(store.query).isEmpty)
        },
        Self(.batches, "a condition sees the effects of previous writes") { store in
            try await store.commit(
                .set(["a": 1], at: store.path()),
                .update(store.path(), [.put("b", 2)], if: .exists),
                .delete(store.path(), if: .exists),
                .set(["c": 3], at: store.path(), if: .isMissing)
            )
            #expect(try await store.fields() == ["c": 3])
        },
        Self(.batches, "a document cannot be created twice in one batch") { store async throws in
            await store.expect(.alreadyExists) {
                try await store.commit(
                    .set(["a": 1], at: store.path(), if: .isMissing),
                    .set(["a": 2], at: store.path(), if: .isMissing)
                )
            }
            #expect(try await store.fields() == nil)
        },
        Self(.batches, "a document written twice gets one revision, the one in the receipt") {
            store in
            let receipt = try await store.commit(
                .set(["a": 1], at: store.path()),
                .set(["a": 2], at: store.path())
            )
            let revision = try await store.document().revision
            #expect(receipt.outcomes.map(\.revision) == [revision, revision])
        },
        Self(.batches, "a document deleted by a later write has no revision in the receipt") {
            store in
            let receipt = try await store.commit(
                .set(["a": 1], at: store.path()),
                .delete(store.path())
            )
            #expect(receipt.outcomes.map(\.revision) == [nil, nil])
        },
        Self(.batches, "a receipt contains the last update time of each document") {
            store in
            try await store.set(["n": 3], "c")
            let receipt = try await store.commit(
                .set(["n": 1], at: store.path("a")),
                .set(["n": 2], at: store.path("b")),
                .set(["n": 3], at: store.path("c")),
                .set(["n": 3], at: store.path("a"))
            )
            let times = try await store.client.queryDocuments(store.query).map(\.updateTime)
            #expect(receipt.outcomes.map(\.updateTime) == times + [times[0]])
            #expect(times[0] == times[1])
        },
        Self(.batches, "commit times never decrease, even when nothing changes") { store in
            var last = Timestamp(microseconds: .min)
            for number in Int64(0)..<10 {
                let states: [DocumentFields] = [["n": .integer(number / 3)], ["n": -1]]
                for fields in states {
                    let time = try await store.set(fields, "\(number % 2)").commitTime
                    #expect(time >= last)
                    last = time
                }
            }
        },
        Self(.batches, "commit times increase from batch to batch") { store in
            let first = try await store.set(["n": 1], "a").commitTime
            let second = try await store.set(["n": 2], "b").commitTime
            #expect(first < second)
        },
    ]

    private static let sizeChecks: [Self] = [
        Self(.batches, "a batch without writes succeeds") { store async throws in
            #expect(try await store.commit().outcomes.isEmpty)
        },
        Self(.batches, "a commit without batches returns no results") { store async throws in
            #expect(try await store.adapter.commit([]).isEmpty)
        },
        Self(.batches, "a batch of 500 writes is accepted and returns an outcome for each") {
            store in
            let writes = try (0..<500).map {
                try DocumentWrite.set(["n": .integer($0)], at: store.path("\($0)"))
            }
            let receipt = try await store.client.commit(writes)
            #expect(receipt.outcomes.count == 500)
            #expect(try await store.client.count(store.query) == 500)
        },
        Self(.batches, "a batch of 501 writes is rejected as tooLarge") { store in
            let writes = (0..<501).map { DocumentWrite.delete(store.path("\($0)")) }
            await store.expect(.tooLarge) { try await store.client.commit(writes) }
        },
        Self(.batches, "a closure that throws commits nothing") { store async throws in
            struct Stop: Error {}
            await #expect(throws: Stop.self) {
                try await store.client.commit { batch in
                    try batch.set(store.path(), ["a": 1])
                    throw Stop()
                }
            }
            #expect(try await store.fields() == nil)
        },
        Self(.batches, "a closure’s writes take effect together and in order") { store in
            try await store.set(["a": 1])
            try await store.client.commit { batch in
                batch.delete(store.path(), if: .exists)
                try batch.create(store.path(), ["b": 1])
                try batch.merge(store.path(), ["c": 2])
                batch.update(store.path(), [.compute("b", .increment(1))])
                batch.verify(store.path(), .exists)
            }
            #expect(try await store.fields() == ["b": 2, "c": 2])
        },
    ]
}
