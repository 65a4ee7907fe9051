#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// A range of the entries of one index.
struct IndexStretch {
    private let index: Int64
    private let collection: Int64
    private let first: [UInt8]
    private let firstBehind: [UInt8]?
    private let isBackward: Bool
    /// Whether the range can contain documents outside of the query's scope.
    let needsScopeCheck: Bool

    /// Finds the range of a scan; nil if it is empty.
    init?(
        _ scan: QueryPlanner.Scan,
        of prepared: PreparedQuery,
        _ reader: StoreReader,
        _ indexes: IndexSet
    ) throws {
        guard !scan.range.isEmpty, let stored = indexes.stored(scan.index) else { return nil }
        index = stored.number
        switch prepared.query.scope {
        case .collection(let path):
            guard let number = try reader.number(of: path) else { return nil }
            collection = number
            needsScopeCheck = false
        case .group(_, let ancestor):
            collection = 0
            needsScopeCheck = ancestor != nil
        case .everything: return nil
        }
        var range = scan.range
        if scan.index.isEqualityOnly {
            range = try range.replacingPrefix(of: scan.fixedLength) { prefix in
                try reader.sealing.fingerprint(prefix, in: stored.definition)
            }
        }
        first = range.first
        firstBehind = range.firstBehind
        isBackward = scan.isBackward
    }

    /// Returns whether the key of the entry of a row of ``documents(in:)`` is long enough to be cut.
    static func mayBeCut(_ row: RawStatement) -> Bool {
        row.integer(StoreReader.columnCount) >= Int64(EntryKey.longestComponent)
    }

    /// Returns the bound statement that reads the range's documents and the lengths of their keys.
    func documents(in database: Database) throws -> RawStatement {
        let sql = isBackward ? Self.backward : Self.forward
        return try bound(try RawStatement(database, firstBehind == nil ? sql.open : sql.closed))
    }

    /// Returns the bound statement that counts the range's entries up to a limit.
    func count(upTo most: Int, in database: Database) throws -> RawStatement {
        let sql = Self.counting
        let statement = try RawStatement(database, firstBehind == nil ? sql.open : sql.closed)
        try statement.bind(5, Int64(most))
        return try bound(statement)
    }

    /// A statement for ranges without an end, and one for ranges with an end.
    private typealias SQL = (open: String, closed: String)

    // Constant, because joining strings for each query would cost more than finding the statement.
    private static let forward = selection("ASC")
    private static let backward = selection("DESC")
    private static let counting = sql("SELECT count(*) FROM (SELECT 1 FROM entries e", "LIMIT ?5)")

    private static func selection(_ direction: String) -> SQL {
        // Without CROSS, SQLite might start with the documents.
        sql(
            """
            SELECT \(StoreReader.columns), length(e.key)
            FROM entries e CROSS JOIN documents d ON d.rid = e.rid
            """,
            "ORDER BY e.key \(direction)"
        )
    }

    private static func sql(_ selection: String, _ order: String) -> SQL {
        let open = "\(selection) WHERE e.ix = ?1 AND e.cid = ?2 AND e.key >= ?3"
        return ("\(open) \(order)", "\(open) AND e.key < ?4 \(order)")
    }

    private func bound(_ statement: RawStatement) throws -> RawStatement {
        try statement.bind(1, index)
        try statement.bind(2, collection)
        try statement.bind(3, first)
        if let firstBehind { try statement.bind(4, firstBehind) }
        return statement
    }
}

#endif
