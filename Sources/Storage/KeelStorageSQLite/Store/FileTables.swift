#if SQLite
internal import GRDB
internal import KeelStorageAdapting

struct FileTables: CheckedTables {
    private let reader: StoreReader

    init(_ reader: StoreReader) { self.reader = reader }

    private var database: Database { reader.database }

    func damage() throws -> [String] {
        let found = try String.fetchAll(database, sql: "PRAGMA integrity_check(20)")
        return found == ["ok"] ? [] : found.map { "SQLite: \($0)" }
    }

    func indexes() throws -> [StoredIndex] {
        try reader.indexes(StoreState(database).generation).all
    }

    func hasChanges() throws -> Bool { try StoreState.sequence(in: database) != 0 }

    func eachDocument(_ take: (Result<CheckedDocument, StorageError>) throws -> Void) throws {
        let statement = try RawStatement(
            database,
            "SELECT \(RawStatement.columns) FROM documents d ORDER BY d.rid"
        )
        try statement.eachRow { row in
            try take(
                result {
                    CheckedDocument(
                        try reader.document(row),
                        collection: row.collection,
                        row: row.number
                    )
                }
            )
            return true
        }
    }

    func missing(_ entries: [CheckedEntry]) throws -> [Int] {
        try entries.indices.filter { try !contains(entries[$0]) }
    }

    private func contains(_ entry: CheckedEntry) throws -> Bool {
        let statement = try RawStatement(
            database,
            "SELECT 1 FROM entries WHERE ix = ? AND cid = ? AND key = ? AND rid = ?"
        )
        try statement.bind(1, entry.index.number)
        try statement.bind(2, entry.index.entryCollection(entry.collection))
        try statement.bind(3, entry.storedKey(sealedBy: reader.sealing))
        try statement.bind(4, entry.row)
        return try statement.first { _ in true } ?? false
    }

    func entryCount(of index: StoredIndex) throws -> Int {
        let sql: String
        if case .search = index.kind {
            sql = "SELECT count(*) FROM \(index.searchTable)"
        } else {
            sql = "SELECT count(*) FROM entries WHERE ix = \(index.number)"
        }
        return try Int.fetchOne(database, sql: sql) ?? 0
    }

    func loose() throws -> [(name: String, count: Int)] {
        let checks = [
            (
                "entries without a document",
                """
                SELECT count(*) FROM entries WHERE rid NOT IN (SELECT rid FROM documents)
                AND ix NOT IN (SELECT ix FROM indexes WHERE built = \(IndexBuild.dropped))
                """
            ),
            (
                "documents without a collection",
                "SELECT count(*) FROM documents WHERE cid NOT IN (SELECT cid FROM collections)"
            ),
            (
                "changes without a collection",
                "SELECT count(*) FROM changes WHERE cid NOT IN (SELECT cid FROM collections)"
            ),
        ]
        return try checks.map { ($0.0, try Int.fetchOne(database, sql: $0.1) ?? 0) }
    }

    func historyStart() throws -> Int64? { try StoredHistory(database)?.start }

    func eachImage(_ take: (Result<Document?, StorageError>, _ time: Int64) throws -> Void) throws {
        let statement = try RawStatement(
            database,
            "SELECT \(StoreReader.imageColumns), time FROM history ORDER BY number"
        )
        try statement.each { row in
            let time = row.integer(8)
            try take(result { try row.isNull(7) ? nil : reader.document(row.row()) }, time)
            return true
        }
    }
}
#endif
