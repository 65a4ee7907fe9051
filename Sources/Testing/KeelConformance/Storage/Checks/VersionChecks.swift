import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    static let versionChecks: [Self] = [
        Self(.documents, "a new document’s create and update times equal the receipt’s time") {
            store in
            let time = try #require(try await store.set(["a": 1]).outcomes.first?.updateTime)
            let document = try await store.document()
            #expect(document.createTime == time)
            #expect(document.updateTime == time)
        },
        Self(.documents, "a change advances the update time and keeps the create time") { store in
            let created = try #require(try await store.set(["a": 1]).outcomes.first?.updateTime)
            let changed = try #require(try await store.set(["a": 2]).outcomes.first?.updateTime)
            let document = try await store.document()
            #expect(document.createTime == created)
            #expect(document.updateTime == changed)
            #expect(changed > created)
        },
        Self(.documents, "a recreated document has later times than before") {
            store in
            var last = Timestamp(microseconds: .min)
            for number in Int64(0)..<20 {
                try await store.set(["a": .integer(number)])
                let document = try await store.document()
                #expect(document.createTime > last)
                try await store.set(["a": .integer(-number - 1)])
                last = try await store.document().updateTime
                #expect(document.createTime < last)
                try await store.client.deleteDocument(store.path())
            }
        },
        Self(.documents, "a write without change returns the existing update time") {
            store in
            let first = try await store.set(["a": 1]).outcomes.first?.updateTime
            try await store.set(["a": 1], "other")
            #expect(try await store.set(["a": 1]).outcomes.first?.updateTime == first)
        },
        Self(.documents, "a deletion returns a later time and no revision") {
            store in
            let updated = try await store.set(["a": 1]).outcomes.first?.updateTime
            let removal = try await store.client.deleteDocument(store.path()).outcomes.first
            #expect(removal?.revision == nil)
            // An adapter that does not know the time of a removal reports none.
            if let removed = removal?.updateTime, let updated { #expect(removed > updated) }
            let again = try await store.client.deleteDocument(store.path()).outcomes.first
            #expect(again?.revision == nil && again?.updateTime == nil)
        },
        Self(.documents, "a receipt contains the document’s new revision") { store in
            let receipt = try await store.set(["a": 1])
            #expect(try await store.document().revision == receipt.revision)
        },
        Self(.documents, "each change increases the revision") { store in
            var revisions: [Revision] = []
            for number in 0..<5 {
                try await store.set(["n": .integer(Int64(number))])
                revisions.append(try await store.document().revision)
            }
            #expect(revisions == Array(Set(revisions)).sorted())
        },
        Self(.documents, "the revision increases across deletion and creation") { store in
            try await store.set(["a": 1])
            let before = try await store.document().revision
            try await store.client.deleteDocument(store.path())
            try await store.set(["a": 1])
            #expect(try await store.document().revision > before)
        },
        Self(.documents, "a read that permits no staleness includes every previous commit") {
            store in
            for number in Int64(0)..<3 {
                try await store.set(["n": .integer(number)])
                var request = ReadRequest(.documents([store.path()]))
                request.maximumStaleness = .zero
                let document = try await store.document()
                let read = try await store.adapter.read(request).documents
                #expect(read == [document])
            }
        },
        Self(.documents, "all ways of reading return the same revision and times") { store in
            try await store.set(["a": 1])
            let document = try await store.document()
            #expect(try await store.client.findDocuments([store.path()]) == [document])
            #expect(try await store.client.queryDocuments(store.query) == [document])
        },
        unchanged("setting the same fields") { store in
            try await store.set(["b": ["y": 2, "x": 1], "a": 1])
        },
        unchanged("merging existing fields") { store in
            try await store.client.mergeDocument(store.path(), ["b": ["x": 1]])
        },
        unchanged("updating a field to its value") { store in
            try await store.update("d", .put("b.x", 1))
        },
        unchanged("removing a missing field") { store in
            try await store.update("d", FieldChange("c", .remove))
        },
        unchanged("verifying the document") { store in
            try await store.commit(DocumentWrite(store.path(), .verify, if: .exists))
        },
        Self(.documents, "a write without change returns the existing revision") {
            store in
            let first = try await store.set(["a": 1]).revision
            #expect(try await store.set(["a": 1]).revision == first)
        },
        Self(.documents, "a number’s type is part of the document: 3 to 3.0 is a change") { store in
            let first = try await store.set(["a": 3]).revision
            let second = try await store.set(["a": 3.0]).revision
            #expect(first != second)
            #expect(try await store.fields() == ["a": 3.0])
        },
        Self(.documents, "a zero’s sign is part of the document: 0.0 to -0.0 is a change") {
            store in
            let first = try await store.set(["a": 0.0]).revision
            let second = try await store.set(["a": .double(-0.0)]).revision
            #expect(first != second)
            #expect(try await store.fields() == ["a": .double(-0.0)])
        },
    ]

    private static func unchanged(
        _ action: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.documents, "\(action) keeps a document’s revision and times") { store in
            try await store.set(["a": 1, "b": ["x": 1, "y": 2]])
            let before = try await store.document()
            try await body(store)
            #expect(try await store.document() == before)
        }
    }
}
