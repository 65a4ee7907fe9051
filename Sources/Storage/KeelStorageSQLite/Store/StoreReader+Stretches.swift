#if SQLite
internal import GRDB
internal import KeelStorageAdapting

extension StoreReader {
    func eachDocument(
        in stretch: IndexStretch,
        expecting count: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        let statement = try statement(stretch.isBackward ? Self.backward : Self.forward, stretch)
        return try statement.each { try take($0.row(keyLength: Int($0.integer(8)))) }
    }

    func count(of stretch: IndexStretch, upTo most: Int) throws -> Int {
        let statement = try statement(Self.counting, stretch)
        try statement.bind(5, most)
        return try statement.first { Int($0.integer(0)) } ?? 0
    }

    private typealias SQL = (open: String, closed: String)

    // Constant, because joining strings for each query would cost more than finding the statement.
    private static let forward = selection("ASC")
    private static let backward = selection("DESC")
    private static let counting = sql("SELECT count(*) FROM (SELECT 1 FROM entries e", "LIMIT ?5)")

    private static func selection(_ direction: String) -> SQL {
        // Without CROSS, SQLite might start with the documents.
        sql(
            """
            SELECT \(RawStatement.columns), length(e.key)
            FROM entries e CROSS JOIN documents d ON d.rid = e.rid
            """,
            "ORDER BY e.key \(direction)"
        )
    }

    private static func sql(_ selection: String, _ order: String) -> SQL {
        let open = "\(selection) WHERE e.ix = ?1 AND e.cid = ?2 AND e.key >= ?3"
        return ("\(open) \(order)", "\(open) AND e.key < ?4 \(order)")
    }

    private func statement(_ sql: SQL, _ stretch: IndexStretch) throws -> RawStatement {
        let end = stretch.firstBehind
        let statement = try RawStatement(database, end == nil ? sql.open : sql.closed)
        try statement.bind(1, stretch.index)
        try statement.bind(2, stretch.collection)
        try statement.bind(3, stretch.first)
        if let end { try statement.bind(4, end) }
        return statement
    }
}

extension StoreReader {
    func eachDocument(
        in stretch: IdentifierStretch,
        after offset: Int,
        expecting count: Int?,
        _ take: (borrowing StoredRow) throws -> Bool
    ) throws -> Bool {
        let statement = try statement(
            """
            SELECT \(RawStatement.columns) FROM documents d WHERE d.cid = ?1 \(stretch.conditions)
            ORDER BY d.id \(stretch.isBackward ? "DESC" : "ASC")
            \(offset > 0 ? "LIMIT -1 OFFSET ?2" : "")
            """,
            stretch
        )
        if offset > 0 { try statement.bind(2, offset) }
        return try statement.eachRow(take)
    }

    func count(of stretch: IdentifierStretch, upTo most: Int) throws -> Int {
        let statement = try statement(
            """
            SELECT count(*) FROM
            (SELECT 1 FROM documents d WHERE d.cid = ?1 \(stretch.conditions) LIMIT ?2)
            """,
            stretch
        )
        try statement.bind(2, most)
        return try statement.first { Int($0.integer(0)) } ?? 0
    }

    private func statement(_ sql: String, _ stretch: IdentifierStretch) throws -> RawStatement {
        let statement = try RawStatement(database, sql)
        try statement.bind(1, stretch.collection)
        for (index, bound) in stretch.bounds.enumerated() {
            try statement.bind(Int32(index + 3), bound.id)
        }
        return statement
    }
}

extension IdentifierStretch {
    fileprivate var conditions: String {
        bounds.enumerated().map { "AND d.id \($0.element.sign) ?\($0.offset + 3)" }
            .joined(separator: " ")
    }
}
#endif
