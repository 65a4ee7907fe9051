#if SQLite
import Foundation
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

    @Test("receipts go with the log")
    func receipts() async throws {
        let adapter = try adapter(age: .seconds(100), count: 5)
        let change = FieldChange("n", .transform(.increment(1)))
        let batch = WriteBatch(id: "x", [DocumentWrite("a/1", .update([change]))])
        try await adapter.apply(batch)
        clock.advance(by: .seconds(101))
        try await adapter.set("a/0", [:])
        try await adapter.compact()
        try await adapter.apply(batch)
        #expect(try await adapter.document("a/1")?["n"] == 2)
    }
}
#endif
