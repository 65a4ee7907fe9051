import GRDB
import KeelStorage

/// Encodes a document, updates its row and adds a log row: two cached statements in one transaction.
///
/// The update names only the changed columns, like `updateChanges` of a GRDB record: SQLite would rewrite the index
/// entries of other columns even if their values are equal.
enum PeerSet {
    static func run(_ place: Place, scoreChanges: Bool, in store: PeerStore) throws {
        let body = try store.encoded(place)
        let time = PeerStore.now()
        try store.pool.write { database in
            if scoreChanges {
                let update = try database.cachedStatement(
                    sql:
                        "UPDATE documents SET rev = ?, updated = ?, score = ?, body = ? WHERE id = ?"
                )
                try update.execute(arguments: [time, time, place.score, body, place.id])
            } else {
                let update = try database.cachedStatement(
                    sql: "UPDATE documents SET rev = ?, updated = ?, body = ? WHERE id = ?"
                )
                try update.execute(arguments: [time, time, body, place.id])
            }
            let log = try database.cachedStatement(
                sql: "INSERT INTO changes(id, rev) VALUES (?, ?)"
            )
            try log.execute(arguments: [place.id, time])
        }
    }
}
