#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Synchronization
import Testing

@Suite("Commits")
struct CommitTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func write(_ path: DocumentPath, _ fields: DocumentFields) -> DocumentWrite {
        DocumentWrite(path, .set(DocumentBody(fields)))
    }

    @Test("a rejected batch changes nothing, and the following batches proceed")
    func refusedBatch() async throws {
        let adapter = try folder.adapter()
        let results = try await adapter.commit([
            WriteBatch([write("a/1", ["n": 1])]),
            WriteBatch([write("a/2", ["n": 2]), DocumentWrite("a/3", .verify, if: .exists)]),
            WriteBatch([write("a/4", ["n": 4])]),
        ])
        #expect(throws: StorageError.self) { try results[1].get() }
        #expect(try await adapter.ids(DocumentQuery("a")) == ["1", "4"])
    }

    @Test("a write without changes stores nothing")
    func noOp() async throws {
        let adapter = try folder.adapter()
        let first = try await adapter.set("a/1", ["n": 1])
        let second = try await adapter.set("a/1", ["n": 1])
        #expect(first.revision == second.revision)
        #expect(first.position == second.position)
        #expect(try await adapter.allChanges(after: first.position).changes.isEmpty)
    }

    @Test("revisions increase although the clock moves back, even across deletion")
    func revisionsGrow() async throws {
        let times = Mutex<Int64>(2_000_000)
        let adapter = try folder.adapter { configuration in
            configuration.now = {
                times.withLock { time in
                    time -= 1_000
                    return Timestamp(microseconds: time)
                }
            }
        }
        var last = Revision(number: 0)
        for number in 0..<Int64(20) {
            let revision = try #require(
                try await adapter.set("a/1", ["n": .integer(number)]).revision
            )
            #expect(revision > last)
            last = revision
            if number % 3 == 0 { try await adapter.delete("a/1") }
        }
    }

    @Test("revisions increase across the deletion of a replica with a higher revision")
    func revisionFloor() async throws {
        let adapter = try folder.adapter()
        let far = Revision(number: 9_000_000_000_000_000_000)
        let copy = Document(
            path: "a/1",
            body: DocumentBody(["n": 1]),
            revision: far,
            createTime: Timestamp(microseconds: 5),
            updateTime: Timestamp(microseconds: 6)
        )
        try await adapter.apply(WriteBatch([DocumentWrite("a/1", .replicate(copy))]))
        #expect(try await adapter.document("a/1") == copy)
        try await adapter.delete("a/1")
        let again = try await folder.adapter().set("a/1", ["n": 2])
        #expect(try #require(again.revision) > far)
    }

    @Test("a repeated batch with an id takes effect once")
    func idempotent() async throws {
        let adapter = try folder.adapter()
        let change = FieldChange("n", .transform(.increment(2)))
        let batch = WriteBatch(id: "once", [DocumentWrite("a/1", .update([change]))])
        let first = try await adapter.apply(batch)
        let second = try await folder.adapter().apply(batch)
        #expect(first == second)
        #expect(first.outcomes[0].transformResults == [2])
        #expect(try await adapter.document("a/1")?["n"] == 2)
    }

    @Test("writes of one batch to one document apply in order and return the last revision")
    func severalWrites() async throws {
        let adapter = try folder.adapter()
        let increment = FieldChange("n", .transform(.increment(1)))
        let receipt = try await adapter.apply(
            WriteBatch([
                write("a/1", ["n": 1]),
                DocumentWrite("a/1", .update([increment])),
                DocumentWrite("a/2", .delete),
                DocumentWrite("a/1", .update([increment])),
            ])
        )
        let document = try #require(try await adapter.document("a/1"))
        #expect(document["n"] == 3)
        #expect(receipt.outcomes[0].revision == document.revision)
        #expect(receipt.outcomes[2].revision == nil)
        let gone = try await adapter.apply(
            WriteBatch([write("a/5", ["n": 1]), DocumentWrite("a/5", .delete)])
        )
        #expect(gone.outcomes[0].revision == nil)
        #expect(try await adapter.document("a/5") == nil)
    }

    @Test("a transaction conflicts if a document or query result it read has changed")
    func transactions() async throws {
        let adapter = try folder.adapter()
        let first = try await adapter.set("a/1", ["n": 1])
        try await adapter.set("a/1", ["n": 2])
        let stale = TransactionReads(documents: [.init(path: "a/1", revision: first.revision)])
        let error = await storageError {
            try await adapter.apply(WriteBatch([write("a/2", [:])], reads: stale))
        }
        #expect(error?.code == .conflict)
        let query = DocumentQuery("a").where(.greater("n", 1))
        let found = try await adapter.found(query).documents
        let reads = TransactionReads(queries: [
            .init(query: query, found: found.map { .init(path: $0.path, revision: $0.revision) })
        ])
        try await adapter.apply(WriteBatch([write("a/2", ["n": 5])], reads: reads))
        let second = await storageError {
            try await adapter.apply(WriteBatch([write("a/3", [:])], reads: reads))
        }
        #expect(second?.code == .conflict)
    }

    @Test("canonically equivalent names refer to different documents")
    func bytes() async throws {
        let adapter = try folder.adapter()
        try await adapter.set("caf\u{E9}s/\u{E9}", ["n": 1])
        try await adapter.set("caf\u{E9}s/e\u{301}", ["n": 2])
        try await adapter.set("cafe\u{301}s/\u{E9}", ["n": 3])
        let reopened = try folder.adapter()
        #expect(try await reopened.document("caf\u{E9}s/\u{E9}")?["n"] == 1)
        #expect(try await reopened.document("caf\u{E9}s/e\u{301}")?["n"] == 2)
        #expect(try await reopened.document("cafe\u{301}s/\u{E9}")?["n"] == 3)
        #expect(try await reopened.document("cafe\u{301}s/e\u{301}") == nil)
    }

    @Test("many tasks write and read concurrently")
    func concurrency() async throws {
        let adapter = try folder.adapter()
        let change = FieldChange("n", .transform(.increment(1)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<20 {
                group.addTask {
                    for _ in 0..<10 {
                        try await adapter.apply(
                            WriteBatch([DocumentWrite("a/sum", .update([change]))])
                        )
                        _ = try await adapter.document("a/\(task)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await adapter.document("a/sum")?["n"] == 200)
    }

    @Test("an id with a zero byte and a large body are stored unchanged")
    func oddities() async throws {
        let adapter = try folder.adapter()
        let large = DocumentValue.bytes(Array(repeating: 7, count: 900_000))
        try await adapter.set("a/x\0y", ["large": large])
        try await adapter.set("a/x", [:])
        #expect(try await folder.adapter().document("a/x\0y")?["large"] == large)
        #expect(try await adapter.ids(DocumentQuery("a")) == ["x", "x\0y"])
    }
}
#endif
