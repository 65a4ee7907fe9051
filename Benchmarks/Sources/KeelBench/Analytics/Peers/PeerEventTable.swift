import Foundation
import GRDB

/// Events in a table of SQLite, with the write-ahead log and `synchronous=NORMAL`.
///
/// This is the fastest that GRDB offers: one connection, a cached statement, and no explicit transaction, because a
/// single statement is one.
struct PeerEventTable: Sendable {
    private let queue: DatabaseQueue

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { database in
            try database.execute(
                sql: "CREATE TABLE events(id INTEGER PRIMARY KEY, body BLOB NOT NULL)"
            )
        }
    }

    func append(_ body: Data) throws {
        try queue.writeWithoutTransaction { database in
            try database.cachedStatement(sql: "INSERT INTO events(body) VALUES (?)")
                .execute(arguments: [body])
        }
    }
}
