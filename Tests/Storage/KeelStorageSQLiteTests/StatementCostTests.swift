#if SQLite
import Foundation
import GRDB
import GRDBSQLite
import KeelDocuments
import KeelStorage
import KeelStorageAdapting
@testable import KeelStorageSQLite
import Testing

/// A test that each statement of writing and maintenance takes as many steps in a large store as in a small one.
@Suite("The cost of each statement")
struct StatementCostTests {
    /// The runs of a statement, and the steps of SQLite's virtual machine in them.
    private struct Cost {
        let runs: Int32
        let steps: Int32
        var perRun: Double { Double(steps) / Double(runs) }
    }

    @Test("no statement takes more steps in a store that is four times as large")
    func steps() async throws {
        let small = try await costs(in: 5_000)
        let large = try await costs(in: 20_000)
        #expect(small.count > 10)
        var compared = 0
        for (sql, cost) in small {
            guard let other = large[sql] else { continue }
            compared += 1
            // Trimming takes up to 10,000 steps more, as there is more to trim. Reading a row takes at least 3, so that
            // a scan of the documents would take 45,000 more.
            #expect(other.perRun <= 1.3 * cost.perRun + 10_000, "\(sql)")
        }
        #expect(compared > small.count / 2)
    }

    @Test("listing the collections of many times keeps no more statements than of one")
    func listing() async throws {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter {
            $0.readerCount = 1
            $0.history = .seconds(3_600)
        }
        try await adapter.set("a/1", ["n": 1])
        var counts: Set<Int> = []
        for time in Int64(1)...5 {
            var request = ReadRequest(.collections(under: nil))
            request.asOf = Timestamp(microseconds: time)
            _ = try await adapter.read(request)
            let count = try adapter.readOnce { reader in
                var count = 0
                var next = sqlite3_next_stmt(reader.database.sqliteConnection, nil)
                while let statement = next {
                    count += 1
                    next = sqlite3_next_stmt(reader.database.sqliteConnection, statement)
                }
                return count
            }
            counts.insert(count)
        }
        #expect(counts.count == 1)
    }

    /// Returns the costs of the statements that the adapter keeps, after work of each kind in a store of a size.
    private func costs(in count: Int64) async throws -> [String: Cost] {
        let folder = try TemporaryFolder()
        let adapter = try folder.adapter { configuration in
            configuration.retention.bytes = 200_000
            configuration.retention.tombstoneBytes = 10_000
        }
        let kept = StorageSchema(indexes: [IndexDefinition("a", [.ascending("n")])])
        let dropped = StorageSchema(indexes: [
            IndexDefinition("a", [.descending("n")]), IndexDefinition("a", [.ascending("text")]),
        ])
        try await adapter.prepare(kept)
        for start in stride(from: 0, to: count, by: 500) {
            try await adapter.apply(
                WriteBatch(
                    id: "load-\(start)",
                    (start..<start + 500).map { number in
                        let fields: DocumentFields = [
                            "n": .integer(number), "text": .string("\(number)"),
                        ]
                        return DocumentWrite(
                            DocumentPath("a", "\(number)"),
                            .set(DocumentBody(fields))
                        )
                    }
                )
            )
        }
        try await adapter.prepare(dropped)
        try await adapter.finishIndexes()
        for number in 0..<300 {
            try await adapter.set(DocumentPath("a", "\(number)"), ["n": .integer(-1)])
            try await adapter.delete(DocumentPath("a", "\(number + 400)"))
        }
        try await adapter.dropIndexes(in: dropped)
        try await adapter.compact()
        return try await adapter.databasePool.writeWithoutTransaction { database in
            var costs: [String: Cost] = [:]
            var next = sqlite3_next_stmt(database.sqliteConnection, nil)
            while let statement = next {
                let runs = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0)
                let steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0)
                if runs > 0, let sql = sqlite3_sql(statement) {
                    costs[String(cString: sql)] = Cost(runs: runs, steps: steps)
                }
                next = sqlite3_next_stmt(database.sqliteConnection, statement)
            }
            return costs
        }
    }
}
#endif
