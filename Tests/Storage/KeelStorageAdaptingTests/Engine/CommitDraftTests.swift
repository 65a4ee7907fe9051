import KeelStorageAdapting
import KeelTestSupport
import Testing

/// Tests of the effects that a batch has before anything is written.
@Suite("Commit drafts")
struct CommitDraftTests {
    private static let now = Timestamp(microseconds: 1_000_000)
    private static let path: DocumentPath = "notes/1"

    private static func document(_ number: Int64, at path: DocumentPath = path) -> Document {
        Document(
            path: path,
            body: DocumentBody(["n": .integer(number)]),
            revision: Revision(number: 40),
            createTime: Timestamp(microseconds: 500),
            updateTime: Timestamp(microseconds: 600)
        )
    }

    private static func draft(from first: Int64 = 70, floor: Int64 = 0) -> CommitDraft {
        CommitDraft(
            at: StorageEvaluator.Commit(after: Timestamp(microseconds: 0), clock: now),
            from: first,
            floor: floor
        )
    }

    private static func set(
        _ number: Int64,
        at path: DocumentPath = path,
        if condition: WriteCondition = .none
    ) throws -> DocumentWrite {
        try .set(["n": .integer(number)], at: path, if: condition)
    }

    private static let increment = FieldChange("n", .transform(.increment(1)))

    @Test("Writes build on each other, and each document is loaded once")
    func buildsUp() throws {
        var draft = Self.draft()
        var lookUps = 0
        let load = { (path: DocumentPath) in
            lookUps += 1
            return CommitDraft.Stored(collection: 3, row: 9, document: Self.document(5, at: path))
        }
        let writes: [DocumentWrite] = [
            .update(Self.path, [Self.increment]), .update(Self.path, [Self.increment]),
        ]
        for write in writes { try draft.add(write, load: load) }
        #expect(lookUps == 1)
        #expect(draft.changes.count == 1)
        let change = try #require(draft.changes.first)
        #expect(try change.document?.fields()["n"] == 7)
        #expect(change.stored.document == Self.document(5))
        #expect((change.stored.collection, change.stored.row) == (3, 9))
        let outcomes = draft.outcomes(of: writes)
        #expect(outcomes.map(\.transformResults) == [[6], [7]])
        // Both outcomes have the document's revision after the batch.
        #expect(outcomes.map(\.revision) == [change.document?.revision, change.document?.revision])
    }

    @Test("Changes are numbered from the store's start, except writes without effect")
    func numbers() throws {
        var draft = Self.draft(from: 70)
        let missing = { (_: DocumentPath) in CommitDraft.Stored() }
        try draft.add(Self.set(1, at: "notes/a"), load: missing)
        try draft.add(DocumentWrite("notes/b", .delete), load: missing)
        try draft.add(Self.set(2, at: "notes/c"), load: missing)
        try draft.add(Self.set(2, at: "notes/c"), load: missing)
        #expect(draft.changes.map(\.sequence) == [70, nil, 71])
        #expect(draft.changeCount == 2)
        #expect(draft.changes.map(\.revision.number) == [70, 0, 71])
    }

    @Test("A missing document gets a revision above the floor")
    func floor() throws {
        var draft = Self.draft(from: 70, floor: 900)
        try draft.add(Self.set(1)) { _ in CommitDraft.Stored() }
        try draft.add(Self.set(1, at: "notes/2")) { path in
            CommitDraft.Stored(document: Self.document(5, at: path))
        }
        #expect(draft.changes.map(\.revision.number) == [901, 71])
    }

    @Test(
        "A recreated document is later than its removal, and a change later than the previous one"
    )
    func times() throws {
        let ahead = Timestamp(microseconds: 9_000_000)
        var draft = Self.draft()
        try draft.add(Self.set(1)) { _ in
            var stored = CommitDraft.Stored(collection: 1)
            stored.removalTime = ahead
            return stored
        }
        let later = Timestamp(microseconds: ahead.microseconds + 1)
        #expect(draft.changes.first?.document?.updateTime == later)
        #expect(draft.changes.first.map(draft.time) == later)
    }

    @Test("A rejected write adds no change to the draft")
    func refuses() throws {
        var draft = Self.draft()
        expectError(StorageError.self, .documentNotFound) {
            try draft.add(try Self.set(1, if: .exists)) { _ in CommitDraft.Stored() }
        }
        #expect(draft.changeCount == 0)
        #expect(draft.changes.allSatisfy { $0.sequence == nil })
    }

    @Test("An unreadable document can be replaced and removed but not updated")
    func unreadable() throws {
        let damage = StorageError(.corrupted, "damaged")
        let load = { (path: DocumentPath) in
            CommitDraft.Stored(
                collection: 1,
                row: 2,
                document: Document(
                    path: path,
                    body: DocumentBody(bytes: []),
                    revision: Revision(number: 40),
                    createTime: Self.now,
                    updateTime: Self.now
                ),
                failure: damage
            )
        }
        var draft = Self.draft()
        expectError(StorageError.self, .corrupted) {
            try draft.add(.update(Self.path, [Self.increment]), load: load)
        }
        try draft.add(Self.set(8), load: load)
        // After the replacement, the document can be read.
        try draft.add(.update(Self.path, [Self.increment]), load: load)
        try draft.add(DocumentWrite("notes/2", .delete), load: load)
        #expect(try draft.changes.first?.document?.fields() == ["n": 9])
        #expect(draft.changes.last?.document == nil)
        #expect(draft.changeCount == 3)
    }
}
