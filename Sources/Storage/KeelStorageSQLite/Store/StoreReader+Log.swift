#if SQLite
internal import GRDB
internal import KeelStorageAdapting

extension LogPoint {
    /// Finds the point of a sequence; nil if the log has no such change.
    init?(_ sequence: Int64, in database: Database) throws {
        // All columns, because a file of an earlier version that is only read has no marks.
        let statement = try RawStatement(database, "SELECT * FROM changes WHERE seq = ?")
        try statement.bind(1, sequence)
        guard let mark = try statement.first(Self.mark) ?? (sequence == 0 ? 0 : nil) else {
            return nil
        }
        self.init(sequence, mark: mark)
    }

    /// Returns the point of a sequence, even if the log no longer has its change.
    ///
    /// Such a point has the period of the preceding change; without one, its cursor expires.
    static func at(_ sequence: Int64, in database: Database) throws -> LogPoint {
        if let point = try LogPoint(sequence, in: database) { return point }
        let period = try Self.period(at: sequence, in: database)
        // Not below the mark of the change itself, because positions must not go back.
        return LogPoint(sequence, mark: period.map { $0 << 32 | 0xFFFF_FFFF } ?? 0)
    }

    /// Returns the log's last change, and the total size of the log up to it.
    static func last(
        _ sequence: Int64,
        in database: Database
    ) throws -> (point: LogPoint, total: Int64) {
        let statement = try RawStatement(database, "SELECT mark, total FROM changes WHERE seq = ?")
        try statement.bind(1, sequence)
        return try statement.first { (LogPoint(sequence, mark: $0.integer(0)), $0.integer(1)) }
            ?? (LogPoint(sequence, mark: 0), 0)
    }

    /// Returns the period of the last change up to a sequence.
    static func period(at sequence: Int64, in database: Database) throws -> Int64? {
        let statement = try RawStatement(
            database,
            "SELECT * FROM changes WHERE seq <= ? ORDER BY seq DESC LIMIT 1"
        )
        try statement.bind(1, sequence)
        return try statement.first(Self.mark).map { Self.period(of: $0) }
    }

    /// Returns the mark in a row with all columns of `changes`.
    static func mark(_ row: RawStatement) -> Int64 {
        row.columnCount > 5 ? row.integer(5) : 0
    }

    static let addColumn = "ALTER TABLE changes ADD COLUMN mark INTEGER"
}

extension ChangePosition {
    /// Returns the place of a cursor from which the log can still be read.
    ///
    /// - Throws: `StorageError/Code/cursorExpired` if the cursor is of another store, of changes that the log no
    ///   longer has, or of changes that are missing from a file restored to an earlier state.
    static func place(
        of cursor: ChangeCursor,
        in state: StoreState,
        _ database: Database,
        epoch: UInt64
    ) throws -> Place {
        guard let position = ChangePosition(cursor), position.epoch == epoch else {
            throw StorageError(.cursorExpired, "the cursor belongs to another store")
        }
        let point = position.place.point
        guard point.sequence >= state.trimmed else {
            throw StorageError(.cursorExpired, "the change log no longer reaches the cursor")
        }
        guard try isKnown(point, in: state, database) else {
            throw StorageError(
                .cursorExpired,
                "the store does not have the cursor’s change; its file was restored to an earlier state"
            )
        }
        return position.place
    }

    /// Returns whether a point within the log belongs to this store's history.
    private static func isKnown(
        _ point: LogPoint,
        in state: StoreState,
        _ database: Database
    ) throws -> Bool {
        if let known = try LogPoint(point.sequence, in: database) { return known == point }
        guard point.sequence <= state.compacted else { return false }
        return try LogPoint.period(at: point.sequence, in: database)
            == LogPoint.period(of: point.mark)
    }
}
#endif
