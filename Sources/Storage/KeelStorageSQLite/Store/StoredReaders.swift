#if SQLite
internal import GRDB
internal import KeelCore
internal import KeelStorageAdapting

struct StoredReaders {
    private static let formerLifetime = Duration.seconds(30 * 86_400)

    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Records the position of a reader; call it in a write transaction.
    ///
    /// - Returns: Whether it was recorded; false if there are too many readers.
    func note(_ reader: ChangeReader, at sequence: Int64, _ age: StoreAge) throws -> Bool {
        let statement = try RawStatement(
            database,
            """
            INSERT INTO readers(name, seq, seen, lifetime) SELECT ?1, ?2, ?3, ?4
            WHERE (SELECT count(*) FROM readers WHERE name <> ?1) < \(StoredReader.most)
            ON CONFLICT (name) DO UPDATE
            SET seq = excluded.seq, seen = excluded.seen, lifetime = excluded.lifetime
            """
        )
        try statement.bind(1, reader.name)
        try statement.bind(2, sequence)
        try statement.bind(3, age.now)
        try statement.bind(4, min(reader.lifetime, StoredReader.longestLifetime).microseconds)
        try statement.run()
        return database.changesCount > 0
    }

    func remove(_ name: String) throws {
        let statement = try RawStatement(database, "DELETE FROM readers WHERE name = ?")
        try statement.bind(1, name)
        try statement.run()
    }

    /// Removes the readers that have been away for their lifetime, and returns the need of the others.
    func need(_ age: StoreAge, horizon: Duration) throws -> ReaderNeed {
        var readers: [StoredReader] = []
        let statement = try RawStatement(database, "SELECT name, seq, seen, lifetime FROM readers")
        try statement.each { row in
            readers.append(
                StoredReader(
                    name: row.text(0),
                    sequence: row.integer(1),
                    seen: row.integer(2),
                    lifetime: row.isNull(3) ? Self.formerLifetime : .microseconds(row.integer(3))
                )
            )
            return true
        }
        let need = try ReaderNeed(of: readers, at: age, horizon: horizon)
        for name in need.gone { try remove(name) }
        return need
    }
}
#endif
