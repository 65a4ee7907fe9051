#if SQLite
import Foundation
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelStorageSQLite

@Suite("Waiting for the commits of other processes", .timeLimit(.minutes(5)))
struct CommitWatchTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Waits for a change after a position, in `count` tasks.
    private func wait(
        _ count: Int,
        on adapter: SQLiteStorageAdapter,
        after start: ChangeCursor?,
        upTo limit: Duration = .seconds(3_600)
    ) -> [Task<[DocumentPath], any Error>] {
        (0..<count).map { _ in
            Task {
                let request = ChangeRequest(after: start, waitTimeout: limit)
                return try await adapter.changes(request).changes.map(\.path)
            }
        }
    }

    @Test("1,000 waits cost almost nothing without writes if the system reports file events")
    func idle() async throws {
        let clock = TestClock()
        let adapter = try folder.adapter { $0.clock = clock }
        let start = try await adapter.set("a/1", [:]).position
        let tasks = wait(1_000, on: adapter, after: start, upTo: .seconds(60))
        await clock.waitForSleepers(1_000)
        try #require(adapter.hasFileEvents)
        let before = adapter.wakeUpCount
        await clock.advance(by: .seconds(59))
        #expect(adapter.wakeUpCount - before <= 20)
        await clock.advance(by: .seconds(1))
        for task in tasks { #expect(try await task.value.isEmpty) }
    }

    @Test("a store behind a symbolic link has file events")
    func linked() async throws {
        try await folder.adapter().set("a/1", [:])
        try FileManager.default.createSymbolicLink(
            at: folder.file("Link.sqlite"),
            withDestinationURL: folder.file()
        )
        let clock = TestClock()
        let adapter = try folder.adapter("Link.sqlite") { $0.clock = clock }
        let start = try await adapter.set("a/2", [:]).position
        let tasks = wait(1, on: adapter, after: start, upTo: .seconds(60))
        await clock.waitForSleepers()
        #expect(adapter.hasFileEvents)
        await clock.advance(by: .seconds(60))
        for task in tasks { #expect(try await task.value.isEmpty) }
    }

    @Test("all waits share two polls per second if the system does not report file events")
    func polls() async throws {
        let clock = TestClock()
        let adapter = try folder.adapter {
            $0.clock = clock
            $0.usesFileEvents = false
        }
        let other = try folder.adapter()
        let start = try await adapter.set("a/1", [:]).position
        let tasks = wait(1_000, on: adapter, after: start)
        await clock.waitForSleepers(1_001)
        #expect(!adapter.hasFileEvents)
        for _ in 0..<20 {
            await clock.advance(by: .milliseconds(500))
            await clock.waitForSleepers(1_001)
        }
        #expect(adapter.wakeUpCount == 20)
        try await other.set("a/2", [:])
        await clock.advance(by: .milliseconds(500))
        for task in tasks { #expect(try await task.value == ["a/2"]) }
    }

    @Test("a wait ends with a commit of another connection without polling")
    func told() async throws {
        let adapter = try folder.adapter { $0.pollInterval = .seconds(3_600) }
        let other = try folder.adapter()
        var start = try await adapter.set("a/1", [:]).position
        for number in 2..<12 {
            let tasks = wait(3, on: adapter, after: start)
            start = try await other.set("a/\(number)", [:]).position
            for task in tasks { #expect(try await task.value == ["a/\(number)"]) }
        }
    }

    @Test("a commit is seen however long its flush takes", arguments: [1, 5, 30])
    func slowFlush(_ seconds: Int) async throws {
        let file = folder.file("log")
        try Data([0]).write(to: file)
        let clock = TestClock()
        let commits = Signal()
        let sequence = Mutex<Int64>(0)
        let watch = CommitWatch(
            file: file.path,
            interval: .seconds(3_600),
            clock: clock,
            raising: commits
        ) {
            sequence.withLock { $0 }
        }
        #expect(!watch.begin(after: 0))
        try #require(watch.hasEvents)
        // The writer has written the commit and flushes it; the commit becomes visible without an event.
        try Data([0, 1]).write(to: file)
        await clock.advance(by: .seconds(seconds), onceAsleep: 1)
        #expect(commits.generation == 0)
        sequence.withLock { $0 = 1 }
        try await waitUntil {
            await clock.advance(by: .seconds(1))
            return commits.generation == 1
        }
        watch.end()
    }

    @Test("a request that has seen a commit before the watch wakes the requests that have not")
    func wakesOthers() {
        let commits = Signal()
        let sequence = Mutex<Int64>(4)
        let watch = CommitWatch(
            file: nil,
            interval: .seconds(3_600),
            clock: TestClock(),
            raising: commits
        ) {
            sequence.withLock { $0 }
        }
        #expect(!watch.begin(after: 4))
        sequence.withLock { $0 = 5 }
        #expect(!watch.begin(after: 5))
        #expect(commits.generation == 1)
        // One that comes later has seen it.
        #expect(!watch.begin(after: 5))
        #expect(commits.generation == 1)
        for _ in 0..<3 { watch.end() }
    }

    @Test("a wait continues after the log file is replaced")
    func replaced() async throws {
        let adapter = try folder.adapter { $0.pollInterval = .milliseconds(2) }
        let other = try folder.adapter()
        let start = try await adapter.set("a/1", [:]).position
        try await other.compact()
        let tasks = wait(3, on: adapter, after: start)
        try await other.set("a/2", [:])
        for task in tasks { #expect(try await task.value == ["a/2"]) }
    }

    @Test("a wait ends when the store is closed")
    func closes() async throws {
        let adapter = try folder.adapter()
        let start = try await adapter.set("a/1", [:]).position
        let clockless = wait(2, on: adapter, after: start)
        // There is no event for the start of the watch; the time limit of the suite ends the loop.
        while !adapter.hasFileEvents { await Task.yield() }
        try adapter.close()
        for task in clockless {
            await expectError(StorageError.self, .closed) { try await task.value }
        }
    }

    @Test("another process can write between the calls of a large save")
    func turns() async throws {
        struct Note: Codable, Sendable, Identifiable { var id: Int }
        let other = try folder.adapter()
        let seen = Mutex<Int64?>(nil)
        let adapter = MeddledStorageAdapter(
            try folder.adapter(),
            beforeCommits: { number in
                guard number == 2 else { return }
                try await other.set("b/1", [:])
                let count = try await other.values(DocumentQuery("a"), [.count()])[0].integerValue
                seen.withLock { $0 = count }
            }
        )
        let notes = StorageClient(adapter).collection("a", as: Note.self)
        #expect(try await notes.saveAll((0..<6_000).lazy.map(Note.init)).count == 6_000)
        #expect(seen.withLock { $0 } == 5_000)
    }
}
#endif
