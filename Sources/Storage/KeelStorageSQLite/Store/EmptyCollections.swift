#if SQLite
internal import GRDB

/// Collections that neither documents, the log nor the history need.
enum EmptyCollections {
    /// Removes the collections among some that have no document, removal or image; call it in a write transaction.
    ///
    /// A removed collection has no other change in the log either, because its removals are the last ones. The last
    /// collection stays, so that no number is used twice.
    static func remove(_ collections: [Int64], in database: Database) throws {
        guard !collections.isEmpty else { return }
        let hasHistory = try StoredHistory(database) != nil
        let statement = try RawStatement(
            database,
            """
            DELETE FROM collections WHERE cid = ?1 AND cid < (SELECT max(cid) FROM collections)
            AND NOT EXISTS (SELECT 1 FROM documents WHERE cid = ?1)
            AND NOT EXISTS (SELECT 1 FROM changes WHERE cid = ?1 AND removed = 1)
            \(hasHistory ? "AND NOT EXISTS (SELECT 1 FROM history WHERE cid = ?1)" : "")
            """
        )
        var count = 0
        for collection in collections {
            try statement.bind(1, collection)
            try statement.run()
            count += database.changesCount
        }
        // The numbers that writers and readers have cached are outdated.
        if count > 0 { try StoreState.advanceGeneration(in: database) }
    }
}
#endif
