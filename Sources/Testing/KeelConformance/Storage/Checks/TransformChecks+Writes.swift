import KeelStorage
import Testing

extension StorageAdapterCheck {
    static let transformChecks: [Self] = [
        Self(.transforms, "serverTimestamp sets the time of the change, in milliseconds") { store in
            try await store.set(["t": "later"])
            let receipt = try await store.update("d", .compute("t", .serverTimestamp))
            let changed = try await store.document().updateTime
            let time = DocumentValue.timestamp(changed.inMilliseconds)
            #expect(receipt.outcomes.first?.transformResults == [time])
            #expect(try await store.fields() == ["t": time])
        },
        Self(.transforms, "commitTime sets and reports a time that never decreases") { store in
            var last = Timestamp(microseconds: .min)
            for number in 0..<5 {
                let set = FieldTransform("t", .commitTime)
                let path = store.path("\(number % 2)")
                let body = DocumentBody(["n": .integer(Int64(number))])
                let receipt = try await store.commit(
                    DocumentWrite(path, .set(body, transforms: [set]))
                )
                let time = try #require(
                    try await store.fields("\(number % 2)")?["t"]?.timestampValue
                )
                #expect(receipt.outcomes.first?.transformResults == [.timestamp(time)])
                #expect(time >= last)
                last = time
            }
        },
        Self(.transforms, "serverTimestamp is the same throughout a batch") { store in
            let set = FieldTransform("at.time", .serverTimestamp)
            let receipt = try await store.commit(
                DocumentWrite(store.path("a"), .set(DocumentBody([:]), transforms: [set])),
                .update(store.path("b"), [.compute("at.time", .serverTimestamp)], if: .none)
            )
            let time = try #require(receipt.outcomes.first?.updateTime)
            let expected: DocumentFields = ["at": ["time": .timestamp(time.inMilliseconds)]]
            #expect(try await store.fields("a") == expected)
            #expect(try await store.fields("b") == expected)
        },
        Self(.transforms, "the transforms of a set start from its new fields") { store in
            try await store.set(["n": 100, "l": [9], "gone": 1])
            let set = DocumentWrite.Operation.set(
                DocumentBody(["n": 1]),
                transforms: [
                    FieldTransform("n", .increment(1)), FieldTransform("l", .arrayUnion([1])),
                ]
            )
            let receipt = try await store.commit(DocumentWrite(store.path(), set))
            #expect(receipt.outcomes.first?.transformResults == [2, .null])
            #expect(try await store.fields() == ["n": 2, "l": [1]])
        },
        Self(.transforms, "results are returned for transforms only, in their order") {
            store in
            try await store.set(["a": 1, "b": 1, "c": 1])
            let receipt = try await store.update(
                "d",
                .compute("c", .increment(2)),
                .put("x", 9),
                .compute("a", .maximum(7)),
                FieldChange("b", .remove),
                .compute("l", .arrayRemove([1]))
            )
            #expect(receipt.outcomes.map(\.transformResults) == [[3, 7, .null]])
            #expect(try await store.fields() == ["a": 7, "c": 3, "x": 9, "l": []])
        },
        Self(.transforms, "a write without transforms returns no results") { store in
            let receipt = try await store.commit(
                .set(["a": 1], at: store.path()),
                .update(store.path(), [.compute("a", .increment(1))]),
                .delete(store.path())
            )
            #expect(receipt.outcomes.map(\.transformResults) == [[], [2], []])
        },
        Self(.transforms, "a transform that changes nothing keeps the revision") { store in
            try await store.set(["n": 1, "l": [1]])
            let before = try await store.document()
            try await store.update(
                "d",
                .compute("n", .increment(0)),
                .compute("l", .arrayUnion([1]))
            )
            #expect(try await store.document() == before)
        },
        Self(.transforms, "a transform creates the maps above its field") { store in
            try await store.set(["a": "no map"])
            try await store.transform("a.b.n", .increment(1))
            #expect(try await store.fields() == ["a": ["b": ["n": 1]]])
        },
        Self(.transforms, "a transform without a condition creates the document") { store in
            try await store.commit(
                .update(store.path(), [.compute("n", .increment(3))], if: .none)
            )
            #expect(try await store.fields() == ["n": 3])
        },
        Self(.transforms, "an update with a transform of a missing document is rejected") {
            store async throws in
            await store.expect(.documentNotFound) {
                try await store.transform("n", .increment(1))
            }
            #expect(try await store.fields() == nil)
        },
        Self(.transforms, "a rejected batch applies no transforms") { store in
            try await store.set(["n": 1])
            await store.expect(.documentNotFound) {
                try await store.commit(
                    .update(store.path(), [.compute("n", .increment(1))]),
                    .delete(store.path("missing"), if: .exists)
                )
            }
            #expect(try await store.fields() == ["n": 1])
        },
        Self(.transforms, "a transform starts from the value set by the same write") { store in
            try await store.set(["n": 1, "m": ["n": 5, "o": 1]])
            let receipt = try await store.update(
                "d",
                .put("n", 5),
                .put("m", ["p": 1]),
                .compute("n", .increment(1)),
                .compute("m.n", .increment(2))
            )
            #expect(receipt.outcomes.map(\.transformResults) == [[6, 2]])
            #expect(try await store.fields() == ["n": 6, "m": ["n": 2, "p": 1]])
        },
        Self(.transforms, "transforms of one field build on each other") { store in
            try await store.set(["n": 1])
            let receipt = try await store.update(
                "d",
                .compute("n", .increment(1)),
                .compute("n", .increment(10))
            )
            #expect(receipt.outcomes.map(\.transformResults) == [[2, 12]])
            #expect(try await store.fields() == ["n": 12])
        },
        Self(.transforms, "two values for one field, or for a field and its map, are rejected") {
            store in
            try await store.set(["n": 1, "m": ["n": 1]])
            let refused: [[FieldChange]] = [
                [.put("n", 5), .put("n", 6)], [.put("m", [:]), .put("m.n", 1)],
                [.compute("n", .increment(1)), .put("n", 5)],
                [.compute("m.n", .increment(1)), .put("m", [:])],
                [.compute("m", .increment(1)), .compute("m.n", .increment(1))],
            ]
            for changes in refused {
                await store.expect(.invalidArgument) {
                    try await store.client.updateDocument(store.path(), changes)
                }
            }
            #expect(try await store.fields() == ["n": 1, "m": ["n": 1]])
        },
        Self(.transforms, "an update of a document deleted in the same batch is rejected") {
            store in
            try await store.set(["n": 1])
            await store.expect(.invalidArgument) {
                try await store.client.commit { batch in
                    batch.delete(store.path())
                    batch.update(store.path(), [.put("n", 2)])
                }
            }
            #expect(try await store.fields() == ["n": 1])
        },
        Self(.transforms, "an operand that is not a number is rejected") { store in
            try await store.set(["n": 1])
            for operand: DocumentValue in ["1", .null, [1]] {
                await store.expect(.invalidArgument) {
                    try await store.transform("n", .increment(operand))
                }
                await store.expect(.invalidArgument) {
                    try await store.transform("n", .maximum(operand))
                }
            }
            #expect(try await store.fields() == ["n": 1])
        },
        Self(.transforms, "a change of the document’s id is rejected") { store in
            try await store.set(["n": 1])
            await store.expect(.invalidArgument) {
                try await store.update("d", .put(.documentID, "e"))
            }
        },
    ]
}

extension Timestamp {
    fileprivate var inMilliseconds: Timestamp {
        Timestamp(microseconds: microseconds - ((microseconds % 1_000) + 1_000) % 1_000)
    }
}
