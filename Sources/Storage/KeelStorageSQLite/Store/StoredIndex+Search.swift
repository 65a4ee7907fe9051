#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// Full-text tables, which hold Keel's own words, joined by spaces.
///
/// The tokenizer `ascii` treats every byte beyond ASCII as part of a token, and the words are folded, so FTS5 finds
/// exactly what every other adapter finds.
extension StoredIndex {
    func createSearchTable(in database: Database) throws {
        let columns = paths.indices.map { "c\($0)" }.joined(separator: ", ")
        try database.execute(
            sql: "CREATE VIRTUAL TABLE \(searchTable) USING fts5(\(columns), tokenize='ascii')"
        )
    }

    func insertTexts(of body: DocumentBody, row: Int64, in database: Database) throws {
        let texts = texts(of: body)
        guard texts.contains(where: { !$0.isEmpty }) else { return }
        let columns = paths.indices.map { ", c\($0)" }.joined()
        let values = paths.indices.map { _ in ", ?" }.joined()
        let statement = try RawStatement(
            database,
            "INSERT INTO \(searchTable)(rowid\(columns)) VALUES (?\(values))"
        )
        try statement.bind(1, row)
        for (position, text) in texts.enumerated() {
            try statement.bind(Int32(position) + 2, text)
        }
        try statement.run()
    }

    func deleteTexts(row: Int64, in database: Database) throws {
        let statement = try RawStatement(
            database,
            "DELETE FROM \(searchTable) WHERE rowid = ?"
        )
        try statement.bind(1, row)
        try statement.run()
    }

    /// Returns the bound statement that finds a search's documents in a collection, or in the whole index if that is
    /// nil.
    func searchStatement(
        _ filter: SearchFilter,
        of collection: Int64?,
        in database: Database
    ) throws -> RawStatement {
        let statement = try RawStatement(
            database,
            """
            SELECT \(RawStatement.columns) FROM \(searchTable)
            CROSS JOIN documents d ON d.rid = \(searchTable).rowid
            WHERE \(searchTable) MATCH ?1 \(collection == nil ? "" : "AND d.cid = ?2")
            """
        )
        try statement.bind(1, Self.expression(filter))
        if let collection { try statement.bind(2, collection) }
        return statement
    }

    /// Returns the search as an FTS5 expression.
    ///
    /// Words consist of letters and digits, so they can be quoted safely.
    private static func expression(_ filter: SearchFilter) -> String {
        let words = filter.terms.map { term in
            let spellings = term.spellings.map { "\"\($0)\"\(term.isPrefix ? "*" : "")" }
            return "(\(spellings.joined(separator: " OR ")))"
        }
        let all = words.joined(separator: " AND ")
        let columns = filter.definition.fields.enumerated()
            .filter { filter.fields.contains($0.element) }.map { "c\($0.offset)" }
        return "{\(columns.joined(separator: " "))} : (\(all))"
    }
}

extension StoredIndex {
    var searchTable: String { "search_\(number)" }
}
#endif
