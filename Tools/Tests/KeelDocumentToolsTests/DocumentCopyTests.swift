import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("Copying stores")
struct DocumentCopyTests {
    @Test("everything is copied with its times and revisions, and both sides are compared")
    func everything() async throws {
        let scratch = try Scratch()
        let source = try SQLiteStorageAdapter.opened(
            at: scratch.file("s.sqlite").path,
            for: .creating
        )
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
        "a copy that is interrupted anywhere goes on, with and without a change log",
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

    @Test("a difference is found: a document too many, another field, another time")
    func differences() async throws {
        let scratch = try Scratch()
        let source = InMemoryStorageAdapter()
        let target = InMemoryStorageAdapter()
        try await Samples.fill(source)
        try await StorageClient(target).setDocument("c/own", ["a": 1])
        let copy = DocumentCopy(from: source, to: target, collections: ["c", "other"])
        let report =
            try await copy
            .run(from: CopyCheckpoint(subject: ""), checkpoint: scratch.file("check"))
        #expect(!report.isVerified)
        #expect(report.comparisons.map(\.isSame) == [false, true])
        #expect(report.comparisons.map(\.target.count) == [7, 1])
        let below = try await target.all("c/d1/below")
        #expect(below.isEmpty)
    }

    @Test("the checkpoint of another copy is refused")
    func otherCheckpoint() throws {
        let scratch = try Scratch()
        let file = scratch.file("check")
        try CopyCheckpoint(subject: "one").write(to: file)
        #expect(throws: ToolError.self) { _ = try CopyCheckpoint.read(file, of: "two") }
    }
}
