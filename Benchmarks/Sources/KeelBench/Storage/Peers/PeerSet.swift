import GRDB
import KeelStorage

/// Encodes a document, updates its row and adds a row to the log: two cached statements in one
/// transaction.
///
/// The update names only the columns that change, as `updateChanges` of a GRDB record does: SQLite
/// would write the index entries of the others anew even where their values are the same.
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
