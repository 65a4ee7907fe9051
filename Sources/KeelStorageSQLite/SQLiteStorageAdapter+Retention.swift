#if SQLite
package import GRDB
public import KeelStorage
internal import Synchronization

/// Tells when it is time to look at the change log's length.
final class TrimmingPace: Sendable {
    private let changes = Atomic(0)

    /// Whether so many changes have come together that trimming is worth its cost.
    func isDue(
        after count: Int,
        keeping retention: SQLiteStorageAdapter.Configuration.Retention
    ) -> Bool {
        let total = changes.add(count, ordering: .relaxed).newValue
        // Finding the place costs a walk along the part that stays: rarely, then.
        guard total >= max(64, retention.count / 16) else { return false }
        changes.store(0, ordering: .relaxed)
        return true
    }
}

extension SQLiteStorageAdapter {
    /// Keeps the change log from being trimmed past a reader that is not always there, such as a
    /// synchronisation or another process.
    ///
    /// Call it again as the reader gets on. A reader that has not called for longer than the
    /// retention's age is forgotten.
    ///
    /// - Throws: `StorageError/Code/cursorExpired` if the log does not reach back to the cursor.
    public func registerReader(_ name: String, at cursor: ChangeCursor) async throws(StorageError) {
        try await maintaining { [self] database in
            let state = try StoreState(database)
            let place = try ChangePosition.place(of: cursor, in: state, database, epoch: epoch)
            let statement = try RawStatement(
                database,
                "INSERT OR REPLACE INTO readers(name, seq, seen) VALUES (?, ?, ?)"
            )
            try statement.bind(1, name)
            try statement.bind(2, place.point.sequence)
            try statement.bind(3, try age(database, state).now)
            try statement.run()
        }
    }

    /// Lets the change log be trimmed without regard to a reader.
    public func unregisterReader(_ name: String) async throws(StorageError) {
        try await maintaining { database in
            let statement = try RawStatement(database, "DELETE FROM readers WHERE name = ?")
            try statement.bind(1, name)
            try statement.run()
        }
    }

    /// Runs `body` in a write transaction, as ``working(_:)`` does.
    func maintaining<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StorageError) -> Value {
        guard !configuration.isReadOnly else {
            throw StorageError(.readOnly, "the store was opened for reading only")
        }
        return try await working { database in
            var value: Value?
            try database.inTransaction(.immediate) {
                value = try body(database)
                return .commit
            }
            guard let value else { throw StorageError.cancellation }
            return value
        }
    }

    /// Runs long work of one task on the connection that writes, in turn with commits.
    ///
    /// It ends soon after the task was cancelled. Commits that come meanwhile wait without a thread.
    package func working<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StorageError) -> Value {
        guard case .write = await line.turn(for: [], isAlone: true) else { throw .cancellation }
        defer { line.leave() }
        let interruption = Interruption()
        let result = await withTaskCancellationHandler {
            await maintenance.result { [self] () async throws(StorageError) in
                try await whileBusy {
                    try databasePool.writeWithoutTransaction { database in
                        try interruption.run(on: database) { try body(database) }
                    }
                }
            }
        } onCancel: {
            interruption.cancel()
        }
        return try result.get()
    }

    /// How many changes, and how many receipts, one commit removes at most.
    static var mostTrimmed: Int { 10_000 }

    /// Removes what the retention does not keep, so much of it at a time that a commit does not wait long;
    /// inside of a write transaction.
    ///
    /// - Returns: Whether there is no more.
    @discardableResult
    func trim(_ database: Database, _ state: StoreState) throws -> Bool {
        let retention = configuration.retention
        let age = try age(database, state)
        let forgotten = try RawStatement(database, "DELETE FROM readers WHERE seen <= ?")
        try forgotten.bind(1, age.now - retention.age.microseconds)
        try forgotten.run()
        let slowest =
            try RawStatement(database, "SELECT min(seq) FROM readers")
            .first { $0.isNull(0) ? Int64.max : $0.integer(0) } ?? .max
        let surplus = try RawStatement(
            database,
            "SELECT seq FROM changes ORDER BY seq DESC LIMIT 1 OFFSET ?"
        )
        try surplus.bind(1, retention.count)
        let excess = try surplus.first { $0.integer(0) } ?? 0
        let oldest = try age.sequence(olderThan: retention.age, in: database) ?? 0
        // The last change stays: the next sequence is told from it.
        let end = min(max(oldest, min(excess, slowest)), state.sequence - 1)
        let isLogTrimmed = try trimLog(to: end, state, database)
        let areReceiptsTrimmed = try trimReceipts(age, database)
        let historyAge = try StoredHistory(database)?.age ?? .zero
        let longest = max(retention.age, retention.receiptAge, historyAge)
        try age.forget(olderThan: longest, in: database)
        return isLogTrimmed && areReceiptsTrimmed
    }

    /// Removes of the history what is old enough, inside of a write transaction.
    ///
    /// - Returns: Whether there is no more.
    @discardableResult
    func forget(
        _ database: Database,
        _ state: StoreState,
        most: Int64 = StoredHistory.mostForgotten
    ) throws -> Bool {
        guard let history = try StoredHistory(database) else { return true }
        let age = try StoreAge(database, configuration, state, history: history.age)
        return try history.forget(by: age, most: most, in: database)
    }

    private func age(_ database: Database, _ state: StoreState) throws -> StoreAge {
        try StoreAge(database, configuration, state, history: StoredHistory(database)?.age)
    }

    private func trimLog(
        to end: Int64,
        _ state: StoreState,
        _ database: Database
    ) throws -> Bool {
        guard end > state.trimmed else { return true }
        let later = try RawStatement(
            database,
            "SELECT seq FROM changes WHERE seq <= ? ORDER BY seq LIMIT 1 OFFSET ?"
        )
        try later.bind(1, end)
        try later.bind(2, Self.mostTrimmed - 1)
        let step = try later.first { $0.integer(0) } ?? end
        // The row itself stays: a cursor at this place is recognised by its mark.
        for sql in [
            "DELETE FROM changes WHERE seq < ?", "DELETE FROM removal_times WHERE seq < ?",
            "UPDATE state SET trimmed = ?",
        ] {
            let statement = try RawStatement(database, sql)
            try statement.bind(1, step)
            try statement.run()
        }
        return step == end
    }

    private func trimReceipts(_ age: StoreAge, _ database: Database) throws -> Bool {
        guard
            let oldest = try age.sequence(
                olderThan: configuration.retention.receiptAge,
                in: database
            )
        else { return true }
        // Numbered in the order of their times.
        let statement = try RawStatement(
            database,
            """
            DELETE FROM receipts WHERE number IN (
                SELECT number FROM receipts WHERE time <= ? ORDER BY number LIMIT ?)
            """
        )
        try statement.bind(1, oldest)
        try statement.bind(2, Self.mostTrimmed)
        try statement.run()
        return database.changesCount < Self.mostTrimmed
    }
}
#endif
