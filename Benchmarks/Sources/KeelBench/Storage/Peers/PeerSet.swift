import GRDB
import KeelStorage

/// Encodes a document, updates its row and adds a row to the log: two cached statements in one
/// transaction.
enum PeerSet {
    static func run(_ place: Place, in store: PeerStore) throws {
        let body = try store.encoded(place)
        let time = PeerStore.now()
        try store.pool.write { database in
            let update = try database.cachedStatement(
                sql: """
                    UPDATE documents SET rev = ?, updated = ?, category = ?, score = ?, body = ?
                    WHERE id = ?
                    """)
            try update.execute(
                arguments: [time, time, store.category(place), place.score, body, place.id])
            let log = try database.cachedStatement(sql: "INSERT INTO changes(id, rev) VALUES (?, ?)")
            try log.execute(arguments: [place.id, time])
        }
    }
}
