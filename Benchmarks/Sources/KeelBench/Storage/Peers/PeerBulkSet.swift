import GRDB
import KeelStorage

/// Encodes documents and stores each with an upsert and a log row: two cached statements, in one transaction.
enum PeerBulkSet {
    static func run(_ places: [Place], in store: PeerStore) throws {
        try store.pool.write { database in
            let upsert = try database.cachedStatement(
                sql: """
                    INSERT INTO documents(id, rev, updated, category, score, body)
                    VALUES (?, ?, ?, ?, ?, ?)
                    ON CONFLICT(id) DO UPDATE SET rev = excluded.rev, updated = excluded.updated,
                    category = excluded.category, score = excluded.score, body = excluded.body
                    """
            )
            let log = try database.cachedStatement(
                sql: "INSERT INTO changes(id, rev) VALUES (?, ?)"
            )
            let time = PeerStore.now()
            for place in places {
                try upsert.execute(
                    arguments: [
                        place.id, time, time, store.category(place), place.score,
                        try store.encoded(place),
                    ])
                try log.execute(arguments: [place.id, time])
            }
        }
    }
}
