#if SQLite
internal import GRDB
internal import KeelStorageAdapting

struct StoredMoments: MomentTable {
    static let table = """
        CREATE TABLE IF NOT EXISTS moments(
            time INTEGER PRIMARY KEY, wall INTEGER NOT NULL, seq INTEGER NOT NULL
        ) STRICT;
        """

    private static let last = """
        SELECT time, wall, seq FROM moments WHERE time <= ? ORDER BY time DESC
        """

    private let database: Database

    init(_ database: Database) { self.database = database }

    private static func moment(_ row: RawStatement) -> StoreMoment {
        StoreMoment(time: row.integer(0), wall: row.integer(1), sequence: row.integer(2))
    }

    func moments(upTo times: [Int64]) throws -> [StoreMoment?] {
        let statement = try RawStatement(database, Self.last)
        return try times.map { time in
            try statement.bind(1, time)
            return try statement.first(Self.moment)
        }
    }

    func eachMoment(upTo time: Int64, _ take: (StoreMoment) throws -> Bool) throws {
        let statement = try RawStatement(database, Self.last)
        try statement.bind(1, time)
        try statement.each { try take(Self.moment($0)) }
    }

    func record(_ moment: StoreMoment) throws {
        try database.runCached(
            "INSERT OR REPLACE INTO moments(time, wall, seq) VALUES (?, ?, ?)",
            moment.time,
            moment.wall,
            moment.sequence
        )
    }

    func removeMoments(after time: Int64) throws { try remove("time > ?", time) }

    func removeMoments(before time: Int64) throws { try remove("time < ?", time) }

    private func remove(_ condition: String, _ time: Int64) throws {
        try database.runCached("DELETE FROM moments WHERE \(condition)", time)
    }
}

extension StoreAge {
    init(
        _ database: Database,
        _ configuration: SQLiteStorageAdapter.Configuration,
        _ state: StoreState,
        history: Duration?
    ) throws {
        try self.init(
            StoredMoments(database),
            wall: configuration.now(),
            sequence: state.sequence,
            keeping: configuration.retention,
            history: history
        )
    }
}
#endif
