#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelStorageSQLite
import Synchronization
import Testing

/// Commits during another commit, which a lock on the file holds up.
@Suite("Concurrent commits", .timeLimit(.minutes(5)))
struct CommitLineTests {
    /// Counts the transactions of an adapter.
    private final class Counter: TransactionObserver, Sendable {
        private let commits = Mutex(0)

        var count: Int { commits.withLock { $0 } }

        func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidCommit(_ database: Database) { commits.withLock { $0 += 1 } }
        func databaseDidRollback(_ database: Database) {}
    }

    let folder: TemporaryFolder
    private let clock = TestClock()

    init() throws { folder = try TemporaryFolder() }

    /// Returns an adapter whose commits wait on the test's clock for a locked file.
    private func adapter(mostPages: Int? = nil) throws -> SQLiteStorageAdapter {
        try folder.adapter {
            $0.busyTimeout = .seconds(60)
            $0.clock = clock
            $0.mostPages = mostPages
        }
    }

    /// Locks the file like another program.
    private func lock() throws -> DatabaseQueue {
        var settings = GRDB.Configuration()
        settings.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.file().path, configuration: settings)
        try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
        return other
    }

    /// Unlocks the file, and lets the commit that waits for it try again.
    private func unlock(_ other: DatabaseQueue) async throws {
        await clock.waitForSleepers()
        try other.inDatabase { try $0.execute(sql: "COMMIT") }
        await clock.advance(by: .milliseconds(1))
    }

    private func batch(_ path: DocumentPath, _ change: FieldChange) -> WriteBatch {
        WriteBatch([DocumentWrite(path, .update([change]), if: .exists)])
    }

    /// Waits until a commit has found the file locked, and a number of others are in line.
    private func waiting(_ count: Int, in adapter: SQLiteStorageAdapter) async throws {
        // Before its attempt, the first commit would take along those that have come meanwhile.
        await clock.waitForSleepers()
        try await waitUntil { adapter.waitingCommitCount >= count }
    }

    @Test("concurrent commits share few transactions but have separate effects and receipts")
    func together() async throws {
        let adapter = try adapter()
        try await adapter.set("a/counter", ["n": 0])
        let counter = Counter()
        adapter.databasePool.add(transactionObserver: counter)
        let other = try lock()
        let receipts = try await withThrowingTaskGroup(of: CommitReceipt?.self) { group in
            for number in 1...60 {
                group.addTask {
                    // Every third commit is refused because the document is missing.
                    let path: DocumentPath = number % 3 == 0 ? "a/missing" : "a/counter"
                    let change = FieldChange("n", .transform(.increment(1)))
                    let results = try await adapter.commit([self.batch(path, change)])
                    #expect(results.count == 1)
                    return try? results[0].get()
                }
                if number == 1 { try await waiting(0, in: adapter) }
            }
            try await waiting(59, in: adapter)
            try await unlock(other)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let told = receipts.compactMap(\.self)
        #expect(told.count == 40)
        #expect(Set(told.map(\.position)).count == 40)
        #expect(Set(told.compactMap(\.revision)).count == 40)
        #expect(try await adapter.document("a/counter")?["n"] == 40)
        #expect(try await adapter.document("a/missing") == nil)
        // The first commit, and one for all that waited.
        #expect(counter.count == 2)
        #expect(adapter.waitingCommitCount == 0)
    }

    @Test("a commit that is too large for the disk fails alone")
    func failsAlone() async throws {
        let adapter = try adapter(mostPages: 60)
        try await adapter.set("a/0", ["n": 0])
        let filling = DocumentValue.bytes(Array(repeating: 1, count: 400_000))
        for large in [0, 3] {
            let other = try lock()
            let codes = try await withThrowingTaskGroup(
                of: (Int, StorageError.Code?).self
            ) { group in
                for number in 0..<8 {
                    group.addTask {
                        let value = number == large ? filling : .integer(Int64(number))
                        let error = await storageError {
                            try await adapter.set("a/\(large)-\(number)", ["n": value])
                        }
                        return (number, error?.code)
                    }
                    try await waiting(number, in: adapter)
                }
                try await unlock(other)
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(codes == [large: .diskFull])
            let stored = try await adapter.ids(DocumentQuery("a")).filter {
                $0.hasPrefix("\(large)-")
            }
            #expect(stored.count == 7)
        }
    }

    @Test("a canceled task leaves the queue, and the others are written")
    func cancelled() async throws {
        let adapter = try adapter()
        try await adapter.set("a/0", ["n": 0])
        let other = try lock()
        var tasks: [Task<StorageError.Code?, Never>] = []
        for number in 0..<6 {
            tasks.append(
                Task { await storageError { try await adapter.set("b/\(number)", [:]) }?.code }
            )
            try await waiting(number, in: adapter)
        }
        tasks[3].cancel()
        #expect(await tasks[3].value == .cancelled)
        #expect(adapter.waitingCommitCount == 4)
        tasks[0].cancel()
        #expect(await tasks[0].value == .cancelled)
        try await unlock(other)
        for number in [1, 2, 4, 5] { #expect(await tasks[number].value == nil) }
        #expect(try await adapter.ids(DocumentQuery("b")) == ["1", "2", "4", "5"])
    }

    @Test("a lasting lock is reported to all waiting commits")
    func busy() async throws {
        let adapter = try folder.adapter { $0.busyTimeout = .milliseconds(100) }
        try await adapter.set("a/0", ["n": 0])
        let other = try lock()
        let codes = await withTaskGroup(of: StorageError.Code?.self) { group in
            for number in 0..<10 {
                group.addTask {
                    await storageError { try await adapter.set("b/\(number)", [:]) }?.code
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes == Array(repeating: .busy, count: 10))
        try other.inDatabase { try $0.execute(sql: "COMMIT") }
        _ = try await adapter.set("b/0", [:])
    }
}
#endif
