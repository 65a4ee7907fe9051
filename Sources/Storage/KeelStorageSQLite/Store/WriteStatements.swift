#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The statements of one write transaction that run for every document.
///
/// In a bulk load, the lookup by text in GRDB's own cache costs as much as some of the statements.
final class WriteStatements {
    enum Kind: Int, CaseIterable {
        case insertDocument, updateDocument, deleteDocument, insertEntry, deleteEntry
        case insertChange, insertChangeOfClient
        case keepImage, keepAbsence, findRemoval, insertRemovalTime

        var sql: String {
            switch self {
            case .insertDocument:
                """
                INSERT INTO documents(rev, created, updated, pending, body, cid, id)
                VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6)
                """
            case .updateDocument:
                """
                UPDATE documents SET rev = ?1, created = ?2, updated = ?3, body = ?4
                WHERE rid = ?5
                """
            case .deleteDocument: "DELETE FROM documents WHERE rid = ?"
            case .insertChange:
                """
                INSERT INTO changes(seq, cid, id, rev, removed, mark, total)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
            case .insertChangeOfClient:
                """
                INSERT INTO changes(seq, cid, id, rev, removed, mark, total, client, mutation)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            case .insertEntry:
                // While an index is being built, its entries may already exist.
                "INSERT OR IGNORE INTO entries(ix, cid, key, rid) VALUES (?, ?, ?, ?)"
            case .deleteEntry:
                "DELETE FROM entries WHERE ix = ? AND cid = ? AND key = ? AND rid = ?"
            case .keepImage:
                """
                INSERT INTO history(time, cid, id, rev, created, updated, pending, body)
                SELECT ?1, cid, id, rev, created, updated, pending, body
                FROM documents WHERE rid = ?2
                """
            case .keepAbsence: "INSERT INTO history(time, cid, id) VALUES (?, ?, ?)"
            case .findRemoval:
                """
                SELECT coalesce(r.time, c.seq)
                FROM changes c LEFT JOIN removal_times r ON r.seq = c.seq
                WHERE c.cid = ? AND c.id = ? AND c.removed = 1 ORDER BY c.seq DESC LIMIT 1
                """
            case .insertRemovalTime:
                "INSERT OR REPLACE INTO removal_times(seq, time) VALUES (?, ?)"
            }
        }
    }

    let database: Database
    private let entries = PendingEntries()
    private var prepared: [RawStatement?] = Array(repeating: nil, count: Kind.allCases.count)

    init(_ database: Database) { self.database = database }

    /// Changes an entry of an index, at the latest in ``finishEntries()``.
    func changeEntry(
        _ key: [UInt8],
        of row: Int64,
        to index: Int64,
        in collection: Int64,
        isRemoval: Bool
    ) throws {
        entries.add(key, of: row, to: index, in: collection, isRemoval: isRemoval)
        if entries.isFull { try finishEntries() }
    }

    func finishEntries() throws {
        try entries.write { change in
            let statement = try self[change.isRemoval ? .deleteEntry : .insertEntry]
            try statement.bind(1, change.index)
            try statement.bind(2, change.collection)
            try statement.bind(3, change.key)
            try statement.bind(4, change.row)
            try statement.run()
        }
    }

    subscript(kind: Kind) -> RawStatement {
        get throws {
            if let statement = prepared[kind.rawValue] { return statement }
            let statement = try RawStatement(database, kind.sql)
            prepared[kind.rawValue] = statement
            return statement
        }
    }
}
#endif
