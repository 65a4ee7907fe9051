#if SQLite
internal import GRDB
internal import KeelStorageAdapting

enum StoredOrigins {
    static let additions = """
        ALTER TABLE changes ADD COLUMN client INTEGER;
        ALTER TABLE changes ADD COLUMN mutation INTEGER;
        CREATE TABLE clients(
            number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, mutation INTEGER NOT NULL
        ) STRICT;
        """
}

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
