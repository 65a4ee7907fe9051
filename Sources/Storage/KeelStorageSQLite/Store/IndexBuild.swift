#if SQLite
internal import GRDB
internal import KeelStorageAdapting

extension IndexBuild {
    private static let documentsPerStep = 1_000

    // MARK: Declaring and dropping

    static func declare(_ kind: StoredIndex.Kind, in database: Database) throws {
        let definition = kind.encoded
        let statement = try RawStatement(
            database,
            """
            INSERT INTO indexes(name, definition, built) VALUES (?, ?, 0) ON CONFLICT DO NOTHING
            """
        )
        try statement.bind(1, kind.name)
        try statement.bind(2, definition)
        try statement.run()
        guard case .search = kind, database.changesCount > 0 else { return }
        let number = database.lastInsertedRowID
        let index = try StoredIndex(number: number, definition: definition, built: 0)
        try index.createSearchTable(in: database)
    }

    /// Hides an index from queries and writers; ``removeDropped(in:)`` removes its entries.
    ///
    /// A search is removed at once.
    static func drop(_ kind: StoredIndex.Kind, in database: Database) throws {
        let definition = kind.encoded
        if case .search = kind {
            let number = try RawStatement(database, "SELECT ix FROM indexes WHERE definition = ?")
            try number.bind(1, definition)
            guard let number = try number.first({ $0.integer(0) }) else { return }
            let index = try StoredIndex(number: number, definition: definition, built: 0)
            try database.execute(sql: "DROP TABLE IF EXISTS \(index.searchTable)")
        }
        let sql =
            if case .search = kind {
                "DELETE FROM indexes WHERE definition = ?"
            } else {
                "UPDATE indexes SET built = \(dropped) WHERE definition = ?"
            }
        let statement = try RawStatement(database, sql)
        try statement.bind(1, definition)
        try statement.run()
    }

    static func removeDropped(in database: Database) throws -> Bool {
        let open = try RawStatement(
            database,
            "SELECT ix FROM indexes WHERE built = \(dropped) ORDER BY ix LIMIT 1"
        )
        guard let number = try open.first({ $0.integer(0) }) else { return false }
        // Rows of several columns with IN would make SQLite read all entries of all indexes.
        try database.runCached(
            """
            DELETE FROM entries WHERE ix = ?1 AND (cid, key, rid) < (
                SELECT cid, key, rid FROM entries WHERE ix = ?1
                ORDER BY cid, key, rid LIMIT 1 OFFSET \(entriesPerStep))
            """,
            number
        )
        if database.changesCount > 0 { return true }
        try database.runCached("DELETE FROM entries WHERE ix = ?", number)
        try database.runCached("DELETE FROM indexes WHERE ix = ?", number)
        return true
    }

    // MARK: Building

    /// Removes some entries of a dropped index, or writes those of some documents for the indexes with the least
    /// progress.
    ///
    /// - Returns: Whether there may be more to do.
    mutating func step(in database: Database, for adapter: SQLiteStorageAdapter) throws -> Bool {
        if try Self.removeDropped(in: database) { return true }
        let reader = adapter.reader(database, remembers: false)
        guard var step = next(of: try reader.storedIndexes()) else { return false }
        let statement = try RawStatement(
            database,
            """
            SELECT \(RawStatement.columns) FROM documents d
            WHERE d.rid > ? AND d.rid <= ? ORDER BY d.rid LIMIT \(Self.documentsPerStep)
            """
        )
        try statement.bind(1, step.after)
        try statement.bind(2, step.through)
        let statements = WriteStatements(database)
        var count = 0
        try statement.eachRow { row in
            count += 1
            let (number, collection) = (row.number, row.collection)
            return try step.add(row, in: reader, &self) {
                try adapter.opensProof(in: database)
            } write: { document, index in
                if case .search = index.kind { try index.deleteTexts(row: number, in: database) }
                var writer = IndexWriter(
                    statements: statements,
                    sealing: reader.sealing,
                    path: document.path,
                    collection: collection,
                    row: number,
                    before: nil,
                    after: document.body
                )
                try writer.update(index)
            }
        }
        try statements.finishEntries()
        for (index, built) in step.progress(isAtEnd: count < Self.documentsPerStep, self) {
            try Self.note(built, of: index, in: database)
        }
        return true
    }

    private static func note(
        _ built: Int64?,
        of index: StoredIndex,
        in database: Database
    ) throws {
        guard let built else {
            try database.runCached("UPDATE indexes SET built = NULL WHERE ix = ?", index.number)
            // Progress does not affect queries; completion does.
            try StoreState.advanceGeneration(in: database)
            return
        }
        try database.runCached("UPDATE indexes SET built = ? WHERE ix = ?", built, index.number)
    }
}
#endif
