import Foundation
import GRDB

/// Entries in a table of SQLite, with the write-ahead log and `synchronous=NORMAL`.
///
/// This is the fastest that GRDB offers: one connection, cached statements, and no explicit transaction around a single
/// statement, because it is one.
struct PeerTable: Sendable {
    private let queue: DatabaseQueue

    init(_ path: String) throws {
        queue = try DatabaseQueue(path: path, configuration: Self.configuration)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE entries(
                        key TEXT PRIMARY KEY NOT NULL, expires INTEGER NOT NULL, value BLOB NOT NULL
                    )
                    """
            )
        }
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.journalMode = .wal
        return configuration
    }

    func put(_ entry: DiskPair.Entry, expires: Int64) throws {
        try queue.writeWithoutTransaction { try Self.put(entry, expires, in: $0) }
    }

    /// Stores entries in one transaction.
    func put(_ entries: some Collection<DiskPair.Entry>, expires: Int64) throws {
        try queue.write { database in
            for entry in entries { try Self.put(entry, expires, in: database) }
        }
    }

    private static func put(
        _ entry: DiskPair.Entry,
        _ expires: Int64,
        in database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO entries(key, expires, value) VALUES (?, ?, ?)
                ON CONFLICT(key) DO UPDATE SET expires = excluded.expires, value = excluded.value
                """
        )
        try statement.execute(arguments: [entry.key, expires, entry.data])
    }

    func get(_ key: String, now: Int64) throws -> Data? {
        try queue.writeWithoutTransaction { database in
            try Data.fetchOne(
                try database.cachedStatement(
                    sql: "SELECT value FROM entries WHERE key = ? AND expires > ?"
                ),
                arguments: [key, now]
            )
        }
    }

    /// Closes the file with an empty write-ahead log.
    func close() throws {
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try queue.close()
    }

    /// Returns the microseconds to open a file and read all its keys, without keeping them.
    static func open(_ path: String, count: Int) throws -> Double {
        let start = ContinuousClock.now
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let found = try queue.writeWithoutTransaction { database in
            let keys = try String.fetchCursor(database, sql: "SELECT key FROM entries")
            var found = 0
            while try keys.next() != nil { found += 1 }
            return found
        }
        let time = start.duration(to: .now)
        guard found == count else { throw Flaw("\(found) rows were found instead of \(count)") }
        try queue.close()
        return time.microseconds
    }
}
