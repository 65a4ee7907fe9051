#if SQLite
import Foundation
import GRDB
import GRDBSQLite
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Retention of the change log")
struct RetentionTests {
    let folder: TemporaryFolder
    private let clock = WallClock()

    init() throws { folder = try TemporaryFolder() }

    private func adapter(
        _ retention: SQLiteStorageAdapter.Configuration.Retention
    ) throws -> SQLiteStorageAdapter {
        try folder.adapter { configuration in
            configuration.retention = retention
            configuration.now = { [clock] in clock.now }
        }
    }

    /// Advances the clock in steps too short to be a wrong clock, and trims after each.
    private func pass(_ duration: Duration, steps: Int, _ adapter: SQLiteStorageAdapter)
        async throws
    {
        for _ in 0..<steps {
            clock.move(by: duration / steps)
            try await adapter.compact()
        }
    }

    private func changeCount(_ adapter: SQLiteStorageAdapter, after cursor: ChangeCursor) async
        -> Int?
    {
        try? await adapter.allChanges(after: cursor).changes.count
    }

    private func rowCount(_ adapter: SQLiteStorageAdapter) async throws -> Int {
        try await adapter.databasePool.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM changes") ?? 0
        }
    }

    // MARK: Limits

    @Test("every change is kept within the byte limit, and older ones once per document")
    func bytes() async throws {
        // A change of a document with a one-byte id counts 41.
        let adapter = try adapter(.init(bytes: 10 * 41))
        let start = try #require(try await adapter.set("a/0", [:]).position)
        for round in Int64(1)...20 {
            for id in 0..<3 { try await adapter.set("a/\(id)", ["n": .integer(round)]) }
        }
        try await adapter.compact()
        // The first change stays for the period of its mark.
        #expect(try await rowCount(adapter) == 1 + 10)
        #expect(await changeCount(adapter, after: start) == 3)
        try await adapter.delete("a/1")
        for round in Int64(0)..<20 { try await adapter.set("a/0", ["n": .integer(round)]) }
        try await adapter.compact()
        // Besides the first change: the last change of one document, the removal, and ten of another document.
        #expect(try await rowCount(adapter) == 1 + 2 + 10)
        let changes = try await adapter.allChanges(after: start).changes
        #expect(changes.map(\.path.id) == ["2", "1", "0"])
        #expect(try await adapter.checkIntegrity().isSound)
    }

    @Test("enough changes trigger trimming")
    func trimsByItself() async throws {
        let adapter = try adapter(.init(bytes: 10_000))
        for number in Int64(0)..<1_000 { try await adapter.set("a/0", ["n": .integer(number)]) }
        #expect(try await rowCount(adapter) < 300)
    }

    @Test("a reader absent for months receives removals at the cost of actual changes")
    func away() async throws {
        let day = Duration.seconds(86_400)
        let adapter = try adapter(.init())
        for number in 0..<60 { try await adapter.set("a/\(number)", ["n": 0]) }
        let (_, cursor) = try await adapter.allChanges()
        // Twenty are changed daily, twenty removed at some time, ten removed and created again.
        for round in Int64(1)...90 {
            for id in 0..<20 { try await adapter.set("a/\(id)", ["n": .integer(round)]) }
            if round.isMultiple(of: 4) { try await adapter.delete("a/\(19 + round / 4)") }
            if round.isMultiple(of: 9) {
                try await adapter.delete("a/\(49 + round / 9)")
                try await adapter.set("a/\(49 + round / 9)", ["n": .integer(round)])
            }
            clock.move(by: day)
            try await adapter.compact()
        }
        // Every change of the last month, and the last changes of 52 documents.
        #expect(try await rowCount(adapter) < 31 * 22 + 60)
        var request = ChangeRequest(after: cursor, limit: 25)
        var states: [DocumentPath: Bool] = [:]
        while true {
            let page = try await adapter.changes(request)
            #expect(page.changes.count <= 25)
            for change in page.changes {
                if case .removed = change {
                    states[change.path] = false
                } else {
                    states[change.path] = true
                }
            }
            request.after = page.next
            if page.isCaughtUp { break }
        }
        #expect(states.values.count { $0 } == 30)
        #expect(states.values.count { !$0 } == 22)
        // After the age of removals, the reader starts again.
        try await pass(day * 100, steps: 100, adapter)
        let error = await storageError { _ = try await adapter.allChanges(after: cursor) }
        #expect(error?.code == .cursorExpired)
    }

    @Test("the last change is kept, so revisions never decrease after a restart")
    func keepsLast() async throws {
        let short = SQLiteStorageAdapter.Configuration.Retention(
            age: .seconds(1),
            bytes: 0,
            tombstoneAge: .seconds(1)
        )
        let first = try adapter(short)
        let last = try await first.set("a/0", ["n": 1])
        try await pass(.seconds(1_000), steps: 10, first)
        try first.close()
        clock.move(by: .seconds(-5_000))
        let next = try await adapter(short).set("a/1", [:])
        #expect(try #require(next.revision) > #require(last.revision))
        #expect(try #require(next.position) > #require(last.position))
    }

    @Test("a long log is trimmed in steps with separate commits")
    func trimsInSteps() async throws {
        let long = try adapter(.init())
        let start = try #require(try await long.set("a/0", [:]).position)
        let fill = { (adapter: SQLiteStorageAdapter, round: Int64) async throws -> Void in
            let body = DocumentBody(["n": .integer(round)])
            try await adapter.apply(
                WriteBatch((0..<500).map { DocumentWrite("a/\($0)", .set(body)) })
            )
        }
        for round in 0..<60 { try await fill(long, Int64(round)) }
        #expect(try await rowCount(long) == 30_001)
        let short = try adapter(.init(bytes: 0))
        // Each step compacts 2,000 changes, of which some stay for their periods.
        for round in 1...3 {
            try await fill(short, Int64(60 + round))
            let rest = 30_001 + round * 500 - round * 2_000
            #expect((rest...rest + 10).contains(try await rowCount(short)))
        }
        let told = try await short.allChanges(after: start).changes.map(\.path)
        #expect(Set(told).count == 500)
        try await short.compact()
        #expect((500...600).contains(try await rowCount(short)))
        // The ends of periods name a document again.
        let rest = try await short.allChanges(after: start).changes.map(\.path)
        #expect(Set(rest).count == 500)
        try short.close()
        let shortest = try adapter(.init(bytes: 0, tombstoneBytes: 0))
        try await fill(shortest, 70)
        try await shortest.compact()
        #expect(await changeCount(shortest, after: start) == nil)
        #expect(try await rowCount(shortest) <= 2)
    }

    // MARK: Receipts

    /// Commits once a day, which trims, for so many days.
    private func pass(days: Int64, _ adapter: SQLiteStorageAdapter) async throws {
        for day in 0..<days {
            clock.move(by: .seconds(86_400))
            try await adapter.set("day/0", ["n": .integer(day)])
        }
    }

    /// Adds so many receipts of batches that change nothing.
    private func addReceipts(_ count: Int, _ name: String, _ adapter: SQLiteStorageAdapter)
        async throws
    {
        let batches = (0..<count).map { WriteBatch(id: "\(name)\($0)", []) }
        let results = try await adapter.commit(batches)
        for result in results { _ = try result.get() }
    }

    private func receiptCount(_ adapter: SQLiteStorageAdapter) async throws -> Int {
        try await adapter.databasePool.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM receipts") ?? 0
        }
    }

    /// Returns the steps of SQLite's virtual machine so far in the statements about receipts.
    private func receiptSteps(_ adapter: SQLiteStorageAdapter) async throws -> Int {
        try await adapter.databasePool.writeWithoutTransaction { database in
            var steps = 0
            var next = sqlite3_next_stmt(database.sqliteConnection, nil)
            while let statement = next {
                if let sql = sqlite3_sql(statement), String(cString: sql).contains("receipts") {
                    steps += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0))
                }
                next = sqlite3_next_stmt(database.sqliteConnection, statement)
            }
            return steps
        }
    }

    @Test("trimming does not read the receipts that stay")
    func receiptCost() async throws {
        // Every change triggers trimming.
        let adapter = try adapter(.init(bytes: 0))
        try await adapter.set("day/0", [:])
        try await pass(days: 9, adapter)
        var costs: [Int] = []
        for count in [100, 5_000] {
            try await addReceipts(count, "\(count)-", adapter)
            let before = try await receiptSteps(adapter)
            try await adapter.set("day/0", ["n": .integer(Int64(-count))])
            costs.append(try await receiptSteps(adapter) - before)
        }
        #expect(try await receiptCount(adapter) == 5_100)
        // Reading a receipt takes at least 3 steps.
        #expect(costs[1] <= costs[0] + 2_000)
        #expect(costs[0] > 0)
    }

    @Test("receipts are removed although an earlier one is of a clock that was years ahead")
    func receiptsBehindWrongOne() async throws {
        let adapter = try adapter(.init(bytes: 0))
        try await adapter.set("day/0", [:])
        let right = clock.now
        clock.move(by: .seconds(100 * 365 * 86_400))
        try await addReceipts(1, "wrong", adapter)
        clock.set(right.microseconds)
        try await addReceipts(50, "right", adapter)
        try await pass(days: 10, adapter)
        #expect(try await receiptCount(adapter) == 1)
    }
}
#endif
