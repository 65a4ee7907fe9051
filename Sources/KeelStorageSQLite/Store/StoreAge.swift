#if SQLite
internal import GRDB
internal import KeelCore
internal import KeelStorage

/// The time by which a store decides what is old enough to be removed.
///
/// It follows the wall clock, but takes no step of more than a day at once: a clock that is set to another
/// year and back makes nothing old that is not, and what was written meanwhile grows old like the rest.
/// `moments` says which changes and receipts there were at which of these times.
struct StoreAge {
    /// The longest step, in microseconds.
    ///
    /// A clock that leaps takes at most this much from an age.
    static let longestStep: Int64 = 86_400_000_000

    /// The present, in microseconds.
    let now: Int64

    static let table = """
        CREATE TABLE IF NOT EXISTS moments(
            time INTEGER PRIMARY KEY, wall INTEGER NOT NULL, seq INTEGER NOT NULL
        ) STRICT;
        """

    /// Reads the present of a store and notes it, where that is worth a row, inside of a write transaction.
    ///
    /// - Parameters:
    ///   - database: A connection that writes.
    ///   - wall: The wall clock's time.
    ///   - state: The state of the store.
    ///   - shortest: The shortest age that the store keeps something for; a moment is noted
    ///     sixty-four times within it, and every ten minutes at most.
    /// - Throws: What SQLite throws.
    init(
        _ database: Database,
        wall: Timestamp,
        state: StoreState,
        keeping shortest: Duration
    ) throws {
        let wall = wall.microseconds
        let statement = try RawStatement(
            database,
            "SELECT time, wall FROM moments ORDER BY time DESC LIMIT 1"
        )
        guard let last = try statement.first({ (time: $0.integer(0), wall: $0.integer(1)) }) else {
            now = wall
            try Self.note(wall, wall, state, database)
            return
        }
        // Wide numbers, because a clock may show any time.
        let passed = Int64(clamping: Int128(wall) - Int128(last.wall))
        now = last.time + min(max(0, passed), Self.longestStep)
        let interval = min(600_000_000, shortest.microseconds / 64)
        if passed < 0 {
            let update = try RawStatement(database, "UPDATE moments SET wall = ? WHERE time = ?")
            try update.bind(1, wall)
            try update.bind(2, last.time)
            try update.run()
        } else if passed > 0, passed >= interval {
            try Self.note(now, wall, state, database)
        }
    }

    /// The last change that is at least so old, or nil.
    func sequence(olderThan age: Duration, in database: Database) throws -> Int64? {
        let statement = try RawStatement(
            database,
            "SELECT seq FROM moments WHERE time <= ? ORDER BY time DESC LIMIT 1"
        )
        try statement.bind(1, now - age.microseconds)
        return try statement.first { $0.integer(0) }
    }

    /// Removes the moments that nothing is measured by any more.
    func forget(olderThan age: Duration, in database: Database) throws {
        let statement = try RawStatement(
            database,
            """
            DELETE FROM moments WHERE time < (SELECT max(time) FROM moments WHERE time <= ?)
            """
        )
        try statement.bind(1, now - age.microseconds)
        try statement.run()
    }

    private static func note(
        _ time: Int64,
        _ wall: Int64,
        _ state: StoreState,
        _ database: Database
    ) throws {
        let statement = try RawStatement(
            database,
            "INSERT OR REPLACE INTO moments(time, wall, seq) VALUES (?, ?, ?)"
        )
        try statement.bind(1, time)
        try statement.bind(2, wall)
        try statement.bind(3, state.sequence)
        try statement.run()
    }
}
#endif
