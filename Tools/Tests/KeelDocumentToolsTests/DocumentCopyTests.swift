import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Synchronization
import Testing

@Suite("Copying stores")
struct DocumentCopyTests {
    /// Returns a store that keeps only what readers need of its change log.
    private func forgetfulStore(_ scratch: Scratch) throws -> SQLiteStorageAdapter {
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.retention = .init(
            age: .zero,
            bytes: 0,
            tombstoneAge: .zero,
            tombstoneBytes: 0
        )
        return try SQLiteStorageAdapter(
            at: .file(scratch.file("s.sqlite").path),
            configuration: configuration
        )
    }

    @Test("Everything is copied with times and revisions, and both sides are compared")
    func everything() async throws {
        let scratch = try Scratch()
        let source = try scratch.store()
        try await Samples.fill(source)
        try await StorageClient(source).deleteDocument("c/d2")
        let target = InMemoryStorageAdapter()
        let report = try await DocumentCopy(from: source, to: target, pageSize: 3)
            .run(from: CopyCheckpoint(subject: ""), checkpoint: scratch.file("check"))
        #expect(report.isVerified)
        #expect(report.keepsTimes)
        #expect(report.comparisons.map(\.source.count) == [5, 5, 1])
        let (before, after) = (try await source.all("c"), try await target.all("c"))
        #expect(before == after)
        #expect(!FileManager.default.fileExists(atPath: scratch.file("check").path))
    }

    @Test(
        "A copy interrupted anywhere resumes, with and without a change log",
        arguments: [true, false],
        1...4
    )
    func resumption(_ hasLog: Bool, _ failing: Int) async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        try await Samples.fill(store, count: 6)
        let hidden: StorageCapabilities = hasLog ? [] : [.changeLog]
        let source = LimitedAdapter(store, without: hidden)
        let target = LimitedAdapter(InMemoryStorageAdapter(), without: hasLog ? [] : .replication)
        let file = scratch.file("check")
        let faults = [StorageFault?](repeating: nil, count: failing - 1) + [.loseReply()]
        await #expect(throws: StorageError.self) {
            _ = try await DocumentCopy(from: source, to: target.failing(faults), pageSize: 2)
                .run(from: CopyCheckpoint(subject: "x"), checkpoint: file)
        }
        let start = try CopyCheckpoint.read(file, of: "x") ?? CopyCheckpoint(subject: "x")
        #expect((start.copied > 0) == (failing > 1))
        // What changes in between is brought too.
        try await StorageClient(store).setDocument("c/d9", ["late": true])
        let report = try await DocumentCopy(from: source, to: target, pageSize: 2)
            .run(from: start, checkpoint: file)
        #expect(report.isVerified)
        #expect(report.keepsTimes == hasLog)
        #expect(report.comparisons.map(\.scope) == [.group("below"), .group("c"), .group("other")])
        #expect(report.comparisons.map(\.target.count) == [6, 8, 1])
    }

    @Test("A copy over a slow network ends even if the source purges its change log")
    func slowNetwork() async throws {
        let scratch = try Scratch()
        let source = try forgetfulStore(scratch)
        let store = StorageClient(source)
        for number in 0..<60 { try await store.setDocument("c/\(number)", ["n": 0]) }
        let start = try await source.changes(ChangeRequest()).next
        let slow = SlowNetwork(source) { page in
            // What goes on while a page is on its way.
            for number in 0..<2 {
                try await store.setDocument(
                    "c/\((page * 7 + number) % 60)",
                    ["n": .integer(Int64(page))]
                )
            }
            try await store.deleteDocument("c/\(page * 11 % 60)")
            try await store.setDocument("c/new\(page)", ["n": 1])
            try await source.compact()
        }
        let target = InMemoryStorageAdapter()
        let report = try await DocumentCopy(from: slow, to: target, pageSize: 5)
            .run(from: CopyCheckpoint(subject: "slow"), checkpoint: scratch.file("check"))
        #expect(report.isVerified)
        #expect(report.copied > 60)
        let (before, after) = (try await source.all("c"), try await target.all("c"))
        #expect(before == after)
        // The copy has let go of the log.
        try await store.setDocument("c/last", ["n": 1])
        try await store.setDocument("c/last", ["n": 2])
        try await source.compact()
        await #expect(throws: StorageError.self) {
            _ = try await source.changes(ChangeRequest(after: start))
        }
    }

    @Test("An interrupted copy resumes although another copy of the same stores has ended")
    func otherCopy() async throws {
        let scratch = try Scratch()
        let source = try forgetfulStore(scratch)
        let store = StorageClient(source)
        for number in 0..<12 { try await store.setDocument("c/\(number)", ["n": 0]) }
        let target = InMemoryStorageAdapter()
        let file = scratch.file("check")
        await #expect(throws: StorageError.self) {
            let failing = target.failing([nil, .loseReply()])
            _ = try await DocumentCopy(from: source, to: failing, pageSize: 5)
                .run(from: CopyCheckpoint(subject: "x"), checkpoint: file)
        }
        let other = try await DocumentCopy(from: source, to: InMemoryStorageAdapter())
            .run(from: CopyCheckpoint(subject: "x"), checkpoint: scratch.file("other"))
        #expect(other.isVerified)
        try await store.setDocument("c/1", ["n": 1])
        try await store.deleteDocument("c/2")
        try await store.setDocument("c/1", ["n": 2])
        try await source.compact()
        let start = try #require(try CopyCheckpoint.read(file, of: "x"))
        let report = try await DocumentCopy(from: source, to: target, pageSize: 5)
            .run(from: start, checkpoint: file)
        #expect(report.isVerified)
    }

    @Test("A copy that begins again lets go of the log that an unfinished one has kept")
    func beginsAgain() async throws {
        let scratch = try Scratch()
        let source = try forgetfulStore(scratch)
        let store = StorageClient(source)
        for number in 0..<12 { try await store.setDocument("c/\(number)", ["n": 0]) }
        let start = try await source.changes(ChangeRequest()).next
        let (target, file) = (InMemoryStorageAdapter(), scratch.file("check"))
        await #expect(throws: StorageError.self) {
            let failing = target.failing([nil, .loseReply()])
            _ = try await DocumentCopy(from: source, to: failing, pageSize: 5)
                .run(from: CopyCheckpoint(subject: "x"), checkpoint: file)
        }
        let report = try await DocumentCopy(from: source, to: target, pageSize: 5)
            .run(from: CopyCheckpoint(subject: "x"), checkpoint: file)
        #expect(report.isVerified)
        try await store.deleteDocument("c/1")
        try await store.setDocument("c/last", ["n": 1])
        try await source.compact()
        await #expect(throws: StorageError.self) {
            _ = try await source.changes(ChangeRequest(after: start))
        }
    }

    @Test("A copy leaves no older state of what a mirror writes meanwhile", arguments: 1...3)
    func mirrored(page: Int) async throws {
        let scratch = try Scratch()
        let (source, target) = (InMemoryStorageAdapter(), InMemoryStorageAdapter())
        for number in 0..<25 {
            try await StorageClient(source).setDocument("c/\(number)", ["n": 0])
        }
        let app = StorageClient(source.mirrored(to: target) { event in Issue.record("\(event)") })
        // Between the reading of a page and its arrival, the last page included.
        let late = MeddlingAdapter(target, beforeCommit: page) {
            for number in 0..<25 {
                let path = DocumentPath("c/\(number)")
                if number % 2 == 0 {
                    try await app.setDocument(path, ["n": 1])
                } else {
                    try await app.deleteDocument(path)
                }
            }
        }
        let report = try await DocumentCopy(from: source, to: late, pageSize: 10)
            .run(from: CopyCheckpoint(subject: "x"), checkpoint: scratch.file("check"))
        #expect(report.isVerified)
        #expect(try await source.all("c") == target.all("c"))
        #expect(try await target.all("c").count == 13)
    }

    @Test("An extra document, a different field and a different time are reported")
    func differences() async throws {
        let scratch = try Scratch()
        let source = InMemoryStorageAdapter()
        let target = InMemoryStorageAdapter()
        try await Samples.fill(source)
        try await StorageClient(target).setDocument("c/own", ["a": 1])
        let copy = DocumentCopy(from: source, to: target, collections: ["c", "other"])
        let report =
            try await copy.run(from: CopyCheckpoint(subject: ""), checkpoint: scratch.file("check"))
        #expect(!report.isVerified)
        #expect(report.comparisons.map(\.isSame) == [false, true])
        #expect(report.comparisons.map(\.target.count) == [7, 1])
        let below = try await target.all("c/d1/below")
        #expect(below.isEmpty)
    }

    @Test(
        "The writes in outboxes of the source are counted and not copied",
        arguments: [true, false]
    )
    func outboxes(_ hasLog: Bool) async throws {
        let scratch = try Scratch()
        let store = InMemoryStorageAdapter()
        try await Samples.fill(store)
        let writes = ["main", "photos"].map { name in
            let path = DocumentPath("__outbox.\(name)__/a")
            return DocumentWrite(path, .set(DocumentBody(["kind": "PUT"])))
        }
        for result in try await store.commit([WriteBatch(writes)]) { _ = try result.get() }
        let target = InMemoryStorageAdapter()
        let hidden: StorageCapabilities = hasLog ? [] : [.changeLog]
        func report(from source: InMemoryStorageAdapter, to target: InMemoryStorageAdapter)
            async throws -> CopyReport
        {
            try await DocumentCopy(from: LimitedAdapter(source, without: hidden), to: target)
                .run(from: CopyCheckpoint(subject: ""), checkpoint: scratch.file("check"))
        }
        let there = try await report(from: store, to: target)
        #expect(there.isVerified && there.outboxWrites == 2)
        let back = try await report(from: target, to: InMemoryStorageAdapter())
        #expect(back.isVerified && back.outboxWrites == 0)
    }

    @Test("The checkpoint of another copy is rejected")
    func otherCheckpoint() throws {
        let scratch = try Scratch()
        let file = scratch.file("check")
        try CopyCheckpoint(subject: "one").write(to: file)
        #expect(throws: ToolError.self) { _ = try CopyCheckpoint.read(file, of: "two") }
    }
}

/// A store whose pages of changes take their time, until it has told all.
private final class SlowNetwork: ForwardingAdapter {
    let upstream: any StorageAdapter
    private let pages = Mutex(0)
    private let meddle: @Sendable (Int) async throws -> Void

    init(_ upstream: any StorageAdapter, _ meddle: @escaping @Sendable (Int) async throws -> Void) {
        self.upstream = upstream
        self.meddle = meddle
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let page = try await upstream.changes(request)
        guard !page.isCaughtUp else { return page }
        let number = pages.withLock { number in
            number += 1
            return number
        }
        do {
            try await meddle(number)
        } catch { throw StorageError(.unknown, "the meddling failed", cause: error) }
        return page
    }
}

/// An adapter that reports fewer capabilities than it has.
struct LimitedAdapter: ForwardingAdapter {
    let upstream: any StorageAdapter
    private let hidden: StorageCapabilities

    init(_ upstream: any StorageAdapter, without hidden: StorageCapabilities) {
        self.upstream = upstream
        self.hidden = hidden
    }

    var capabilities: StorageCapabilities { upstream.capabilities.subtracting(hidden) }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        // As the adapter of Firestore does.
        guard capabilities.contains(.idempotentCommits) || batches.allSatisfy({ $0.id == nil })
        else { throw StorageError(.unsupported, "a batch has an id") }
        return try await upstream.commit(batches)
    }
}
