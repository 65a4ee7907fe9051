#if SQLite
package import GRDB
internal import GRDBSQLite
internal import KeelCore
public import KeelStorageAdapting
internal import Synchronization

extension SQLiteStorageAdapter {
    /// Retains the change log for a reader that is not always connected, such as a synchronization or another process.
    ///
    /// Call it again as the reader advances. A reader that has not called for its lifetime is removed, and no reader
    /// retains changes older than `LogRetention/tombstoneAge` and its lifetime together. The file retains changes for
    /// up to 1,000 readers. Readers that name themselves in a `ChangeRequest` need not call this method.
    ///
    /// - Parameters:
    ///   - name: The reader's name, at most 1,500 bytes.
    ///   - cursor: The position of the reader.
    ///   - lifetime: How long after this call the log is retained; more than 90 days count as 90.
    /// - Throws: `StorageError/Code/cursorExpired` if the log no longer reaches the cursor,
    ///   `StorageError/Code/invalidArgument` for a name that is too long, `StorageError/Code/tooLarge` for a reader
    ///   beyond 1,000, `StorageError/Code/readOnly`, and errors of the file.
    public func registerReader(
        _ name: String,
        at cursor: ChangeCursor,
        lifetime: Duration = .seconds(30 * 86_400)
    ) async throws(StorageError) {
        do throws(StorageError) {
            let isRetained = try await note(ChangeReader(name, lifetime: lifetime), at: cursor)
            guard isRetained else { throw StorageError.tooManyReaders }
        } catch {
            throw error.during("registerReader")
        }
    }

    /// Stops retaining the change log for a reader.
    public func unregisterReader(_ name: String) async throws(StorageError) {
        readers.forget(name)
        do throws(StorageError) {
            try await maintaining { try StoredReaders($0).remove(name) }
        } catch {
            throw error.during("unregisterReader")
        }
    }

    func note(_ request: ChangeRequest, answeredUpTo next: ChangeCursor) async throws(StorageError)
    {
        guard request.reader != nil, !configuration.isReadOnly else { return }
        try await readers.follow(request, answeredUpTo: next) {
            reader,
            cursor throws(StorageError) in
            _ = try await note(reader, at: cursor)
        } release: {
            name throws(StorageError) in
            try await unregisterReader(name)
        }
    }

    private func note(
        _ reader: ChangeReader,
        at cursor: ChangeCursor
    ) async throws(StorageError) -> Bool {
        try reader.checkName()
        return try await maintaining { [self] database in
            let state = try StoreState(database)
            let place = try self.reader(database, remembers: false)
                .place(of: cursor, in: state.log, epoch: epoch)
            return try StoredReaders(database)
                .note(reader, at: place.point.sequence, try age(database, state))
        }
    }

    func maintaining<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StorageError) -> Value {
        guard !configuration.isReadOnly else {
            throw StorageError(.readOnly, "the store was opened read-only")
        }
        return try await working { database in
            var value: Value?
            try database.inTransaction(.immediate) {
                try database.checkIsInPlace()
                try StoreFormat.check(database)
                value = try body(database)
                return .commit
            }
            guard let value else { throw StorageError.cancellation }
            return value
        }
    }

    /// Runs long work of one task on the writing connection, in turn with commits.
    ///
    /// Cancellation ends it soon.
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

    private static var mostReceipts: Int { 10_000 }

    /// Removes some changes and receipts beyond the retention; call it in a write transaction.
    ///
    /// - Returns: Whether nothing is left to remove.
    @discardableResult
    func trim(_ database: Database, _ state: StoreState) throws -> Bool {
        let retention = configuration.retention
        let age = try age(database, state)
        let need = try StoredReaders(database).need(age, horizon: retention.horizon)
        let parts = LogParts(
            sequence: state.sequence,
            total: try LogPoint.last(state.sequence, in: database).total,
            trimmed: state.trimmed,
            compacted: state.compacted,
            kept: state.kept
        )
        var trimming = try LogTrimming(StoredLog(database), parts, keeping: retention, at: age)
        let isLogTrimmed = try trimming.step(keepingAfter: need.after)
        let areReceiptsTrimmed = try trimReceipts(age, database)
        let historyAge = try StoredHistory(database)?.age ?? .zero
        let longest = max(retention.horizon + need.lifetime, retention.receiptAge * 2, historyAge)
        try age.forget(olderThan: longest)
        return isLogTrimmed && areReceiptsTrimmed
    }

    /// Removes old images of the history; call it in a write transaction.
    ///
    /// - Returns: Whether nothing is left to remove.
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

    private func trimReceipts(_ age: StoreAge, _ database: Database) throws -> Bool {
        let longest = configuration.retention.longestReceiptAge
        guard let oldest = try age.moments(surelyOlderThan: [longest])[0]?.sequence else {
            return true
        }
        // Without the end, SQLite would read all receipts that are kept.
        let end = try reader(database, remembers: false).firstNumber(in: "receipts", after: oldest)
        try database.runCached(
            """
            DELETE FROM receipts WHERE number IN (
                SELECT number FROM receipts WHERE number < ? AND time <= ? ORDER BY number LIMIT ?)
            """,
            end,
            oldest,
            Int64(Self.mostReceipts)
        )
        return database.changesCount < Self.mostReceipts
    }
}

/// Interrupts the work of the writing connection for one task when that task is canceled.
///
/// Commits are written for several tasks, so the writing connection ignores cancellation elsewhere.
final class Interruption: Sendable {
    private let connection = Mutex<UInt?>(nil)

    func run<Value>(on database: Database, _ work: () throws -> Value) throws -> Value {
        connection.withLock { $0 = UInt(bitPattern: database.sqliteConnection) }
        // An interrupt between two statements is lost; the progress handler checks again in the next one.
        database.endStatementsOfCancelledTasks()
        defer {
            connection.withLock { $0 = nil }
            sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
        }
        return try work()
    }

    /// Interrupts running work, also a checkpoint, which calls no progress handler.
    func cancel() {
        connection.withLock { connection in
            guard let connection else { return }
            // Under the lock, because the connection must still be this task's.
            sqlite3_interrupt(OpaquePointer(bitPattern: connection))
        }
    }
}
#endif
