#if SQLite
internal import GRDB
internal import KeelCore
internal import KeelStorageAdapting
internal import Synchronization

/// The registered readers of a store's change log.
struct StoredReaders {
    /// The largest number of readers for which a store retains its log; further ones are ignored.
    static let most = 1_000
    static let longestLifetime = Duration.seconds(90 * 86_400)
    /// The lifetime of readers that an earlier version has registered.
    private static let formerLifetime = Duration.seconds(30 * 86_400)

    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Records the position of a reader; call it in a write transaction.
    func note(_ reader: ChangeReader, at sequence: Int64, _ age: StoreAge) throws {
        let statement = try RawStatement(
            database,
            """
            INSERT INTO readers(name, seq, seen, lifetime) SELECT ?1, ?2, ?3, ?4
            WHERE (SELECT count(*) FROM readers WHERE name <> ?1) < \(Self.most)
            ON CONFLICT (name) DO UPDATE
            SET seq = excluded.seq, seen = excluded.seen, lifetime = excluded.lifetime
            """
        )
        try statement.bind(1, reader.name)
        try statement.bind(2, sequence)
        try statement.bind(3, age.now)
        try statement.bind(4, min(reader.lifetime, Self.longestLifetime).microseconds)
        try statement.run()
    }

    func remove(_ name: String) throws {
        let statement = try RawStatement(database, "DELETE FROM readers WHERE name = ?")
        try statement.bind(1, name)
        try statement.run()
    }

    /// Removes the readers that have been away for their lifetime, and returns the need of the others.
    ///
    /// A reader that never advances does not retain changes older than the log's horizon and its lifetime together.
    ///
    /// - Returns: The sequence after which readers need the log, and the longest lifetime of a reader.
    func need(_ age: StoreAge, horizon: Duration) throws -> (after: Int64, lifetime: Duration) {
        var readers: [(name: String, sequence: Int64, seen: Int64, lifetime: Duration)] = []
        let statement = try RawStatement(database, "SELECT name, seq, seen, lifetime FROM readers")
        try statement.each { row in
            let lifetime = row.isNull(3) ? Self.formerLifetime : .microseconds(row.integer(3))
            readers.append((row.text(0), row.integer(1), row.integer(2), lifetime))
            return true
        }
        var (need, longest) = (Int64.max, Duration.zero)
        for reader in readers {
            let limit = try age.moment(surelyOlderThan: reader.lifetime, in: database)
            if let limit, reader.seen <= limit.time {
                try remove(reader.name)
                continue
            }
            longest = max(longest, reader.lifetime)
            let bound = try age.sequence(olderThan: horizon + reader.lifetime, in: database)
            need = min(need, max(reader.sequence, bound ?? 0))
        }
        return (need, longest)
    }
}

/// Decides when to record a reader's position again, which is a write to the file.
final class ReaderPace: Sendable {
    private let timeline: Timeline
    private let noted = Mutex<[String: Duration]>([:])

    init(_ clock: any Clock<Duration>) { timeline = Timeline(clock) }

    /// Returns whether a reader's position has not been recorded for ten minutes, or a sixteenth of its lifetime.
    func isDue(_ reader: ChangeReader) -> Bool {
        let now = timeline.now
        return noted.withLock { noted in
            let pause = min(.seconds(600), reader.lifetime / 16)
            if let last = noted[reader.name], now - last < pause { return false }
            // Names come from callers and must not accumulate.
            if noted.count >= StoredReaders.most { noted.removeAll() }
            noted[reader.name] = now
            return true
        }
    }

    /// Makes recording a reader's next position due.
    func forget(_ name: String) { noted.withLock { $0[name] = nil } }
}
#endif
