#if SQLite
internal import GRDB
internal import KeelStorageAdapting

struct StoredLog: TrimmedLog {
    static let additions = """
        ALTER TABLE changes ADD COLUMN total INTEGER;
        ALTER TABLE state ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE state ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE readers ADD COLUMN lifetime INTEGER;
        """

    private static let columns = "c.seq, c.mark, c.removed, length(CAST(c.id AS BLOB)), c.total"

    private static let changes = """
        SELECT \(columns), 0 FROM changes c WHERE c.seq > ? ORDER BY c.seq
        """

    /// A document has the revision of its last change.
    ///
    /// A replica may give it an earlier revision again; the older change with that revision then stays, which is
    /// harmless.
    private static let comparedChanges = """
        SELECT \(columns),
            CASE c.removed WHEN 0 THEN d.rid IS NULL OR d.rev <> c.rev
            ELSE d.rid IS NOT NULL OR EXISTS (
                SELECT 1 FROM changes l
                WHERE l.cid = c.cid AND l.id = c.id AND l.removed = 1 AND l.seq > c.seq
            ) END
        FROM changes c LEFT JOIN documents d ON d.cid = c.cid AND d.id = c.id
        WHERE c.seq > ? ORDER BY c.seq
        """

    private let database: Database

    init(_ database: Database) { self.database = database }

    func lastMark(upTo sequence: Int64) throws -> Int64? {
        try LogPoint.lastMark(upTo: sequence, in: database)
    }

    func eachAging(
        after sequence: Int64,
        isCompared: Bool,
        _ take: (AgingChange) throws -> Bool
    ) throws {
        let sql = isCompared ? Self.comparedChanges : Self.changes
        let statement = try RawStatement(database, sql)
        try statement.bind(1, sequence)
        try statement.each { row in
            try take(
                AgingChange(
                    sequence: row.integer(0),
                    mark: row.integer(1),
                    isRemoval: row.integer(2) != 0,
                    idLength: row.integer(3),
                    total: row.integer(4),
                    isSuperseded: row.integer(5) != 0
                )
            )
        }
    }

    func remove(_ changes: [AgingChange]) throws {
        let change = try RawStatement(database, "DELETE FROM changes WHERE seq = ?")
        let time = try RawStatement(database, "DELETE FROM removal_times WHERE seq = ?")
        for removed in changes {
            for statement in removed.isRemoval ? [change, time] : [change] {
                try statement.bind(1, removed.sequence)
                try statement.run()
            }
        }
    }

    func removeChanges(before sequence: Int64) throws {
        // “+” keeps SQLite from reading all removals.
        let statement = try RawStatement(
            database,
            "SELECT DISTINCT cid FROM changes WHERE seq < ? AND +removed = 1"
        )
        try statement.bind(1, sequence)
        let collections = try statement.integers()
        for table in ["changes", "removal_times"] {
            try database.runCached("DELETE FROM \(table) WHERE seq < ?", sequence)
        }
        try EmptyCollections.remove(collections, in: database)
    }

    func write(_ parts: LogParts) throws {
        try database.runCached(
            "UPDATE state SET trimmed = ?, compacted = ?, kept = ?",
            parts.trimmed,
            parts.compacted,
            parts.kept
        )
    }
}
#endif
