#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The keys of collections, which order the documents of groups by path.
enum CollectionKeys {
    static let index = "CREATE INDEX collections_by_key ON collections(name, key);"

    static let orderName = "collections_in_order"

    static let order = "CREATE INDEX IF NOT EXISTS \(orderName) ON collections(key);"

    /// Adds the keys to a file of an earlier version; call it in a write transaction.
    static func addKeys(in database: Database) throws {
        try database.execute(sql: "ALTER TABLE collections ADD COLUMN key BLOB")
        let all = try RawStatement(database, "SELECT cid, path FROM collections")
        var keys: [(Int64, [UInt8])] = []
        try all.each { row in
            keys.append(
                (row.integer(0), IndexKey.key(ofAllIn: CollectionPath(trusted: row.text(1))))
            )
            return true
        }
        let update = try RawStatement(database, "UPDATE collections SET key = ? WHERE cid = ?")
        for (number, key) in keys {
            try update.bind(1, key)
            try update.bind(2, number)
            try update.run()
        }
        try database.execute(sql: "DROP INDEX IF EXISTS collections_by_name")
        try database.execute(sql: index)
    }
}

extension StoreReader {
    func hasKeys(named name: String?) throws -> Bool {
        // Earlier versions of Keel write no keys, and a read-only file is not upgraded.
        guard try catalog.hasKeys(in: database) else { return false }
        let statement = try RawStatement(
            database,
            """
            SELECT 1 FROM collections WHERE \(name == nil ? "" : "name = ? AND") key IS NULL LIMIT 1
            """
        )
        if let name { try statement.bind(1, name) }
        return try statement.first { _ in false } ?? true
    }

    func page(
        named name: String?,
        in range: KeyRange,
        isBackward: Bool,
        most: Int
    ) throws -> [GroupOrder.Member] {
        let end = range.firstBehind
        let statement = try RawStatement(
            database,
            """
            SELECT cid, path, key FROM collections
            WHERE \(name == nil ? "" : "name = ?4 AND") key >= ?1 \(end == nil ? "" : "AND key < ?2")
            ORDER BY key \(isBackward ? "DESC" : "ASC") LIMIT ?3
            """
        )
        try statement.bind(1, range.first)
        if let end { try statement.bind(2, end) }
        try statement.bind(3, Int64(most))
        if let name { try statement.bind(4, name) }
        var page: [GroupOrder.Member] = []
        try statement.each { row in
            page.append(
                GroupOrder.Member(
                    number: row.integer(0),
                    path: CollectionPath(trusted: row.text(1)),
                    key: row.bytes(2)
                )
            )
            return true
        }
        return page
    }
}

extension StoreCatalog {
    func hasKeys(in database: Database) throws -> Bool {
        if knowsKeys { return true }
        let hasKeys = try StoreFormat.hasColumn("key", in: "collections", database)
        if hasKeys { rememberKeys() }
        return hasKeys
    }
}
#endif
