#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The origins of changes, and the last mutation of each client.
enum StoredOrigins {
    /// Adds the columns and the table that a file without origins lacks.
    static let additions = """
        ALTER TABLE changes ADD COLUMN client INTEGER;
        ALTER TABLE changes ADD COLUMN mutation INTEGER;
        CREATE TABLE clients(
            number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, mutation INTEGER NOT NULL
        ) STRICT;
        """

    /// Returns the origin in a row with all columns of `changes`; nil if the change has none.
    static func origin(_ row: RawStatement, _ name: (Int64) throws -> String?) rethrows
        -> ChangeOrigin?
    {
        guard row.columnCount > 7, !row.isNull(6), let client = try name(row.integer(6)) else {
            return nil
        }
        return ChangeOrigin(client: client, mutation: row.integer(7))
    }

    static func name(of client: Int64, in database: Database) throws -> String? {
        let statement = try RawStatement(database, "SELECT name FROM clients WHERE number = ?")
        try statement.bind(1, client)
        return try statement.first { $0.text(0) }
    }

    /// Returns the last mutations of clients, without unknown ones.
    static func last(of clients: Set<String>, in database: Database) throws -> [String: Int64] {
        // A read-only file of an earlier version has no clients.
        guard !clients.isEmpty, try StoreFormat.hasColumn("mutation", in: "changes", database)
        else { return [:] }
        var last: [String: Int64] = [:]
        let statement = try RawStatement(database, "SELECT mutation FROM clients WHERE name = ?")
        for client in clients {
            try statement.bind(1, client)
            last[client] = try statement.first { $0.integer(0) }
        }
        return last
    }
}

/// The origin of a batch in the log.
struct StoredOrigin {
    let client: Int64
    let mutation: Int64

    /// Records the mutation as the client's last one; call it in a write transaction.
    init(_ origin: ChangeOrigin, in database: Database) throws {
        let statement = try RawStatement(
            database,
            """
            INSERT INTO clients(name, mutation) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET mutation = max(mutation, excluded.mutation)
            RETURNING number
            """
        )
        try statement.bind(1, origin.client)
        try statement.bind(2, origin.mutation)
        var number: Int64?
        try statement.each { row in
            number = row.integer(0)
            return true
        }
        guard let number else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a client has no number")
        }
        client = number
        mutation = origin.mutation
    }
}
#endif
