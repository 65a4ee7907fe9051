#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The origins of changes, and the last mutation of each client.
enum StoredOrigins {
    /// What the tables of a file without origins get.
    ///
    /// The index serves those who catch up through deletions: a change that leaves a document costs
    /// nothing for it. An index of all changes by document would cost a bulk load most of its speed.
    static let additions = """
        ALTER TABLE changes ADD COLUMN client INTEGER;
        ALTER TABLE changes ADD COLUMN mutation INTEGER;
        CREATE TABLE clients(
            number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, mutation INTEGER NOT NULL
        ) STRICT;
        """

    /// The origin in a row with all columns of `changes`; nil if the change has none.
    static func origin(_ row: RawStatement, _ name: (Int64) throws -> String?) rethrows
        -> ChangeOrigin?
    {
        guard row.columnCount > 7, !row.isNull(6), let client = try name(row.integer(6)) else {
            return nil
        }
        return ChangeOrigin(client: client, mutation: row.integer(7))
    }

    /// The name of a client.
    static func name(of client: Int64, in database: Database) throws -> String? {
        let statement = try RawStatement(database, "SELECT name FROM clients WHERE number = ?")
        try statement.bind(1, client)
        return try statement.first { $0.text(0) }
    }

    /// The last mutations of clients; those that are not known are missing.
    static func last(of clients: Set<String>, in database: Database) throws -> [String: Int64] {
        // A file of an earlier version that is only read has no clients.
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

/// The origin of a batch, as the log keeps it.
struct StoredOrigin {
    let client: Int64
    let mutation: Int64

    /// Notes the mutation as the client's last one, inside of a write transaction.
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
