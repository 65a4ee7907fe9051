#if SQLite
internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Interrupts the work of the writing connection for one task when that task is canceled.
///
/// Commits are written for several tasks, so the writing connection ignores cancellation. It is interrupted only
/// within ``run(on:_:)``, which contains no statement of another task.
final class Interruption: Sendable {
    /// The connection while it works for the task.
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

    /// Interrupts running work, for example a checkpoint, which calls no progress handler.
    func cancel() {
        connection.withLock { connection in
            guard let connection else { return }
            // Under the lock, because the connection must still be this task's.
            sqlite3_interrupt(OpaquePointer(bitPattern: connection))
        }
    }
}
#endif
