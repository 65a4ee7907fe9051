import KeelStorage
internal import KeelTestKit
import Testing

extension StorageAdapterCheck {
    package static let replication: [Self] = [
        replica("is stored with its times and its revision") { store in
            let document = store.replica(["a": 1])
            try await store.commit(DocumentWrite(document.path, .replicate(document)))
            #expect(try await store.document() == document)
            #expect(try await store.client.queryDocuments(store.query) == [document])
        },
        replica("’s receipt contains its revision") { store in
            let document = store.replica(["a": 1])
            let receipt = try await store.commit(DocumentWrite(document.path, .replicate(document)))
            #expect(receipt.revision == document.revision)
        },
        replica("replaces a document even at a higher revision") { store in
            try await store.set(["old": 1])
            let document = store.replica(["a": 1])
            try await store.commit(DocumentWrite(document.path, .replicate(document)))
            #expect(try await store.document() == document)
        },
        replica("is rejected if its condition does not hold") { store in
            try await store.set(["old": 1])
            let document = store.replica(["a": 1])
            await store.expect(.alreadyExists) {
                try await store.commit(
                    DocumentWrite(document.path, .replicate(document), if: .isMissing)
                )
            }
            #expect(try await store.fields() == ["old": 1])
        },
        replica("keeps its create time and gets a higher revision when changed") { store in
            let document = store.replica(["a": 1])
            try await store.commit(DocumentWrite(document.path, .replicate(document)))
            try await store.update("d", .put("a", 2))
            let changed = try await store.document()
            #expect(changed.createTime == document.createTime)
            #expect(changed.updateTime > document.updateTime)
            #expect(changed.revision > document.revision)
        },
        replica("with a future time is followed by later times, even across deletion") { store in
            let year = Int64(366 * 86_400) * 1_000_000
            let ahead = Timestamp(microseconds: Timestamp.now().microseconds + year)
            let document = Document.stub(store.path(), ["a": 1], at: ahead)
            try await store.commit(DocumentWrite(document.path, .replicate(document)))
            try await store.update("d", .put("a", 2))
            let changed = try await store.document()
            #expect(changed.createTime == ahead)
            #expect(changed.updateTime > ahead)
            try await store.client.deleteDocument(store.path())
            try await store.set(["a": 3])
            #expect(try await store.document().createTime > changed.updateTime)
            // The advance affects only this document.
            try await store.set(["a": 1], "other")
            #expect(try await store.document("other").updateTime < ahead)
        },
        replica("with a higher revision is followed by higher revisions") { store in
            let document = try await store.replicaFromAhead()
            try await store.commit(DocumentWrite(document.path, .replicate(document)))
            try await store.update("d", .put("a", 2))
            #expect(try await store.document().revision > document.revision)
        },
        replica("with a higher revision is followed by higher ones across deletion") { store in
            let document = try await store.replicaFromAhead()
            try await store.commit(DocumentWrite(document.path, .replicate(document)))
            try await store.client.deleteDocument(store.path())
            try await store.set(["a": 2])
            #expect(try await store.document().revision > document.revision)
        },
        replica("is found by queries and indexes") { store in
            if store.client.capabilities.contains(.declaredIndexes) {
                try await store.adapter.prepare(
                    StorageSchema(indexes: [IndexDefinition(store.name, [.ascending("a")])])
                )
            }
            try await store.set(["a": 1])
            let document = store.replica(["a": 2])
            try await store.commit(DocumentWrite(document.path, .replicate(document)))
            #expect(try await store.ids(where: .equal("a", 1)).isEmpty)
            #expect(try await store.ids(where: .equal("a", 2)) == ["d"])
        },
        replica("that is already present changes nothing") { store in
            let document = store.replica(["a": 1])
            for _ in 0..<2 {
                try await store.commit(DocumentWrite(document.path, .replicate(document)))
            }
            #expect(try await store.document() == document)
        },
        replica("is part of its batch and is rejected with it") { store async throws in
            let document = store.replica(["a": 1])
            await store.expect(.documentNotFound) {
                try await store.commit(
                    DocumentWrite(document.path, .replicate(document)),
                    .delete(store.path("missing"), if: .exists)
                )
            }
            #expect(try await store.fields() == nil)
        },
        replica("with an invalid revision is rejected") { store async throws in
            for number in [Int64.max, 0, -1] {
                let document = store.replica(["a": 1], revision: number)
                await store.expect(.invalidArgument) {
                    try await store.commit(DocumentWrite(document.path, .replicate(document)))
                }
            }
            #expect(try await store.fields() == nil)
        },
        replica("for a path other than its own is rejected") { store in
            let document = store.replica(["a": 1])
            await store.expect(.invalidArgument) {
                try await store.client.commit([
                    DocumentWrite(store.path("other"), .replicate(document))
                ])
            }
        },
        Self(
            .replication,
            "the change log reports a replica unchanged",
            needs: [.replication, .changeLog]
        ) { store in
            var follower = ChangeFollower(store, after: try await store.position())
            let document = store.replica(["a": 1])
            try await store.commit(DocumentWrite(document.path, .replicate(document)))
            try await follower.catchUp()
            #expect(follower.changes == [.current(document)])
        },
        Self(
            .replication,
            "a store copied through its change log equals the original",
            needs: [.replication, .changeLog]
        ) { store in
            for number in Int64(0)..<20 {
                try await store.set(["n": .integer(number)], "\(number)")
            }
            try await store.client.deleteDocument(store.path("7"))
            var follower = ChangeFollower(store, after: nil)
            try await follower.catchUp(limit: 6)
            let copy = StoreUnderTest(InMemoryStorageAdapter(), named: store.name)
            let writes = follower.documents.values.map { DocumentWrite($0.path, .replicate($0)) }
            try await copy.client.commit(writes)
            let (one, other) = (
                try await store.client.queryDocuments(store.query),
                try await copy.client.queryDocuments(copy.query)
            )
            #expect(one == other)
        },
    ]

    private static func replica(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        let space = promise.hasPrefix("’") ? "" : " "
        return Self(.replication, "a replica\(space)\(promise)", needs: .replication, body)
    }
}

extension StoreUnderTest {
    /// Returns a document as another store wrote it long ago.
    fileprivate func replica(_ fields: DocumentFields, revision: Int64 = 42) -> Document {
        Document(
            path: path(),
            body: DocumentBody(fields),
            revision: Revision(number: revision),
            createTime: Timestamp(microseconds: 1_000),
            updateTime: Timestamp(microseconds: 2_000)
        )
    }

    /// Returns a document of a store whose revisions are ahead of this one's.
    fileprivate func replicaFromAhead() async throws -> Document {
        try await set(["a": 0])
        let ahead = try await document().revision.number + 1_000_000_000_000
        return replica(["a": 1], revision: ahead)
    }
}
