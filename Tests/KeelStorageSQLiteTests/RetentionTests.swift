#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageSQLite
import Synchronization
import Testing

@Suite("Keeping the change log short")
struct RetentionTests {
    /// A wall clock that only the test moves.
    private final class WallClock: Sendable {
        private let time = Mutex<Int64>(1_000_000_000)
        var now: Timestamp { Timestamp(microseconds: time.withLock { $0 }) }
        func advance(by duration: Duration) {
            time.withLock { $0 += Int64(duration / .microseconds(1)) }
        }
    }

    let folder: TemporaryFolder
    private let clock = WallClock()

    init() throws { folder = try TemporaryFolder() }

    private func adapter(age: Duration = .seconds(1_000_000), count: Int) throws
        -> SQLiteStorageAdapter
    {
        try folder.adapter { configuration in
            configuration.retention = .init(age: age, count: count)
            configuration.now = { [clock] in clock.now }
        }
    }

    private func changeCount(_ adapter: SQLiteStorageAdapter, after cursor: ChangeCursor) async
        -> Int?
    {
        try? await adapter.allChanges(after: cursor).changes.count
    }

    @Test("the log keeps the count and an older cursor expires")
    func count() async throws {
        let adapter = try adapter(count: 10)
        let start = try #require(try await adapter.set("a/0", [:]).position)
        var middle = start
        for number in 1...20 {
            let receipt = try await adapter.set("a/\(number)", [:])
            if number == 10 { middle = try #require(receipt.position) }
        }
        #expect(await changeCount(adapter, after: start) == 20)
        try await adapter.compact()
        let error = await storageError { _ = try await adapter.allChanges(after: start) }
        #expect(error?.code == .cursorExpired)
        #expect(await changeCount(adapter, after: middle) == 10)
        // The way back that the error names.
        #expect(try await adapter.allChanges().changes.count == 21)
    }

    @Test("trimming comes by itself with enough changes")
    func trimsByItself() async throws {
        let adapter = try adapter(count: 10)
        let start = try #require(try await adapter.set("a/0", [:]).position)
        for number in 0..<200 { try await adapter.set("a/0", ["n": .integer(Int64(number))]) }
        #expect(await changeCount(adapter, after: start) == nil)
    }

    @Test("a registered reader keeps its changes, until it is too old")
    func readers() async throws {
        let adapter = try adapter(age: .seconds(100), count: 5)
        let start = try #require(try await adapter.set("a/0", [:]).position)
        try await adapter.registerReader("sync", at: start)
        for number in 1...20 { try await adapter.set("a/\(number)", [:]) }
        try await adapter.compact()
        #expect(await changeCount(adapter, after: start) == 20)
        clock.advance(by: .seconds(101))
        try await adapter.set("a/0", ["n": 1])
        try await adapter.compact()
        #expect(await changeCount(adapter, after: start) == nil)
        let error = await storageError { try await adapter.registerReader("sync", at: start) }
        #expect(error?.code == .cursorExpired)
    }

    @Test("an unregistered reader holds nothing back")
    func unregisters() async throws {
        let adapter = try adapter(count: 5)
        let start = try #require(try await adapter.set("a/0", [:]).position)
        try await adapter.registerReader("sync", at: start)
        for number in 1...20 { try await adapter.set("a/\(number)", [:]) }
        try await adapter.unregisterReader("sync")
        try await adapter.compact()
        #expect(await changeCount(adapter, after: start) == nil)
    }

    @Test("the last change stays, so that revisions never go back after a restart")
    func keepsLast() async throws {
        let first = try adapter(age: .seconds(1), count: 1)
        let last = try await first.set("a/0", ["n": 1])
        clock.advance(by: .seconds(1_000))
        try await first.compact()
        try first.close()
        clock.advance(by: .seconds(-5_000))
        let next = try await adapter(count: 1).set("a/1", [:])
        #expect(try #require(next.revision) > #require(last.revision))
        #expect(try #require(next.position) > #require(last.position))
    }

    private static let batch = WriteBatch(
        id: "x",
        [DocumentWrite("a/1", .update([FieldChange("n", .transform(.increment(1)))]))]
    )

    @Test("a repeated batch is recognised after any number of changes")
    func receiptsOutliveTheLog() async throws {
        let adapter = try adapter(age: .seconds(100), count: 5)
        let receipt = try await adapter.apply(Self.batch)
        for number in 0..<200 { try await adapter.set("b/\(number % 3)", [:]) }
        clock.advance(by: .seconds(101))
        try await adapter.compact()
        #expect(try await adapter.apply(Self.batch).commitTime == receipt.commitTime)
        #expect(try await adapter.document("a/1")?["n"] == 1)
    }

    @Test("receipts are removed after their own time, and no sooner")
    func receiptsExpire() async throws {
        let adapter = try folder.adapter { configuration in
            configuration.retention = .init(count: 5, receiptAge: .seconds(1_000))
            configuration.now = { [clock] in clock.now }
        }
        try await adapter.apply(Self.batch)
        try await adapter.compact()
        clock.advance(by: .seconds(990))
        try await adapter.compact()
        try await adapter.apply(Self.batch)
        #expect(try await adapter.document("a/1")?["n"] == 1)
        clock.advance(by: .seconds(20))
        try await adapter.compact()
        try await adapter.apply(Self.batch)
        #expect(try await adapter.document("a/1")?["n"] == 2)
    }

    @Test(
        "a clock that leaps years ahead and back removes nothing early and keeps nothing for ever"
    )
    func leaps() async throws {
        let day = Duration.seconds(86_400)
        let adapter = try adapter(age: day * 30, count: 1_000)
        let start = try #require(try await adapter.set("a/0", [:]).position)
        try await adapter.apply(Self.batch)
        try await adapter.registerReader("sync", at: start)
        try await adapter.compact()
        clock.advance(by: day * 5_000)
        try await adapter.set("a/2", [:])
        try await adapter.compact()
        clock.advance(by: day * -5_000)
        try await adapter.set("a/3", [:])
        try await adapter.compact()
        #expect(await changeCount(adapter, after: start) == 3)
        try await adapter.apply(Self.batch)
        #expect(try await adapter.document("a/1")?["n"] == 1)
        // Days that pass one by one make everything old, what was written in the wrong year too.
        for _ in 0..<32 {
            clock.advance(by: day)
            try await adapter.compact()
        }
        try await adapter.set("a/4", [:])
        try await adapter.compact()
        #expect(await changeCount(adapter, after: start) == nil)
        try await adapter.apply(Self.batch)
        #expect(try await adapter.document("a/1")?["n"] == 2)
    }

    @Test("a long log is removed in steps, each with a commit of its own")
    func trimsInSteps() async throws {
        let long = try adapter(count: 1_000_000)
        let start = try #require(try await long.set("a/0", [:]).position)
        let fill = { (adapter: SQLiteStorageAdapter, round: Int64) async throws -> Void in
            let body = DocumentBody(["n": .integer(round)])
            try await adapter.apply(
                WriteBatch((0..<500).map { DocumentWrite("a/\($0)", .set(body)) })
            )
        }
        for round in 0..<60 { try await fill(long, Int64(round)) }
        let rows = { () async throws -> Int in
            try await long.databasePool.read { database in
                try Int.fetchOne(database, sql: "SELECT count(*) FROM changes") ?? 0
            }
        }
        #expect(try await rows() == 30_001)
        let short = try adapter(count: 100)
        try await fill(short, 60)
        // The last change that was removed stays for its mark.
        #expect(try await rows() == 30_501 - 10_000 + 1)
        #expect(await changeCount(short, after: start) == nil)
        try await short.compact()
        #expect(try await rows() == 101)
    }
}
#endif
