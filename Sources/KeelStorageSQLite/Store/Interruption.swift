#if SQLite
internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// Ends what the connection that writes does for one task, when the task is cancelled.
///
/// Commits are written for several tasks, so that this connection heeds no cancellation by itself. It does
/// only inside of ``run(on:_:)``, which no other task's statement can be a part of.
final class Interruption: Sendable {
    /// The connection as long as it works for the task.
    private let connection = Mutex<UInt?>(nil)

    /// Runs long work.
    func run<Value>(on database: Database, _ work: () throws -> Value) throws -> Value {
        connection.withLock { $0 = UInt(bitPattern: database.sqliteConnection) }
        // An interruption between two statements is lost; the handler asks again in the next one.
        database.endStatementsOfCancelledTasks()
        defer {
            connection.withLock { $0 = nil }
            sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil)
        }
        return try work()
    }

    /// Interrupts the work, if it is under way: a checkpoint asks no handler.
    func cancel() {
        connection.withLock { connection in
            guard let connection else { return }
            // Under the lock: the connection is still this task's.
            sqlite3_interrupt(OpaquePointer(bitPattern: connection))
        }
    }
}
#endif
