#if SQLite
internal import GRDB
internal import KeelCore
internal import KeelStorageAdapting

/// The time by which a store decides what is old enough to be removed.
///
/// It follows the wall clock, but takes no step of more than a day at once: a clock that is set to another year ages
/// nothing prematurely, and data written meanwhile ages like the rest. Once the clock is right again, such a step is
/// taken back. The table `moments` maps these times to the last change at each.
struct StoreAge {
    /// The longest step, in microseconds.
    ///
    /// A clock that jumps shortens an age by at most this much, until it is right again.
    static let longestStep: Int64 = 86_400_000_000

    /// The present, in microseconds.
    let now: Int64

    static let table = """
        CREATE TABLE IF NOT EXISTS moments(
            time INTEGER PRIMARY KEY, wall INTEGER NOT NULL, seq INTEGER NOT NULL
        ) STRICT;
        """

    private typealias Moment = (time: Int64, wall: Int64)

    /// Reads the present of a store, and records it if enough time has passed; call it in a write transaction.
    ///
    /// The interval between recorded moments is the smaller of ten minutes and a sixty-fourth of the shortest
    /// retention.
    init(
        _ database: Database,
        _ configuration: SQLiteStorageAdapter.Configuration,
        _ state: StoreState,
        history: Duration?
    ) throws {
        let retention = configuration.retention
        let shortest = min(retention.age, retention.receiptAge, history ?? retention.age)
        let interval = min(600_000_000, shortest.microseconds / 64)
        // Half of the number's range, because a clock may show any time.
        let wall = min(max(configuration.now().microseconds, -1 << 61), 1 << 61)
        guard let last = try Self.last(in: database) else {
            now = wall
            try Self.note(wall, wall, state, database)
            return
        }
        let passed = wall - last.wall
        switch passed {
        case 0...Self.longestStep:
            now = last.time + passed
            guard passed > 0, passed >= interval else { return }
        case -interval..<0:
            now = last.time
            return
        default:
            if let base = try Self.leap(before: wall, last, in: database) {
                now = base.time + (wall - base.wall)
                let removal = try RawStatement(database, "DELETE FROM moments WHERE time > ?")
                try removal.bind(1, base.time)
                try removal.run()
            } else {
                now = last.time + (passed > 0 ? Self.longestStep : 1)
            }
        }
        try Self.note(now, wall, state, database)
    }

    /// Returns the last change that is at least `age` old; nil if there is none.
    func sequence(olderThan age: Duration, in database: Database) throws -> Int64? {
        let statement = try RawStatement(
            database,
            "SELECT seq FROM moments WHERE time <= ? ORDER BY time DESC LIMIT 1"
        )
        try statement.bind(1, now - age.microseconds)
        return try statement.first { $0.integer(0) }
    }

    /// Returns the last moment that is at least `age` old, even if each step between moments counts at most a quarter
    /// of the age, with the last change at that moment; nil if there is none.
    func moment(
        surelyOlderThan age: Duration,
        in database: Database
    ) throws -> (time: Int64, sequence: Int64)? {
        let longest = min(max(1, age.microseconds / 4), Self.longestStep)
        // No step is longer than a day, so ages of several days need no addition.
        let isLong = longest == Self.longestStep
        let statement = try RawStatement(
            database,
            "SELECT time, seq FROM moments WHERE time <= ? ORDER BY time DESC"
        )
        try statement.bind(1, isLong ? now - age.microseconds : now)
        var (left, later) = (isLong ? 0 : age.microseconds, now)
        var found: (time: Int64, sequence: Int64)?
        try statement.each { row in
            left -= min(later - row.integer(0), longest)
            later = row.integer(0)
            if left <= 0 { found = (row.integer(0), row.integer(1)) }
            return found == nil
        }
        return found
    }

    /// Removes the moments that no age needs any longer.
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

    // MARK: Moments

    private static func last(in database: Database) throws -> Moment? {
        try RawStatement(database, "SELECT time, wall FROM moments ORDER BY time DESC LIMIT 1")
            .first { ($0.integer(0), $0.integer(1)) }
    }

    /// Returns the moment before the clock jumped, if the clock now continues from there: it was wrong meanwhile, and
    /// is right again.
    private static func leap(
        before wall: Int64,
        _ last: Moment,
        in database: Database
    ) throws -> Moment? {
        let statement = try RawStatement(
            database,
            """
            SELECT time, wall FROM (
                SELECT time, wall, lead(wall) OVER (ORDER BY time) AS next FROM moments
            )
            WHERE wall <= ?1 AND ?1 - wall <= ?2 + (?3 - time)
            AND next NOT BETWEEN wall AND wall + ?2
            ORDER BY time DESC LIMIT 1
            """
        )
        try statement.bind(1, wall)
        try statement.bind(2, longestStep)
        try statement.bind(3, last.time)
        return try statement.first { ($0.integer(0), $0.integer(1)) }
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
