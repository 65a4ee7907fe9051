#if PostgreSQL
internal import CLibPQ
internal import KeelCore
internal import KeelStorageAdapting

/// The tail of a read's transaction, in which all statements see one state.
///
/// The transaction begins with the first statement of the read, which saves a round trip. Until then, the read uses the
/// last known indexes; it runs again if they are outdated.
final class ReadTransaction {
    /// The indexes that the read assumed have been replaced.
    struct OutdatedIndexes: Error {}

    private let snapshot: TableSnapshot
    private var found: StoreTail?
    /// The indexes that the read uses before the tail is known.
    private var assumed: IndexSet?

    init(of snapshot: TableSnapshot, tail: StoreTail? = nil) {
        self.snapshot = snapshot
        found = tail
    }

    /// Begins the transaction if necessary.
    func tail() throws -> StoreTail {
        if found == nil { try snapshot.connection.run([]) }
        guard let found else { throw DatabaseFailure.lost("the transaction has not begun") }
        return found
    }

    func indexes() throws -> IndexSet {
        guard found == nil, let latest = snapshot.catalog.latestIndexes else {
            return try snapshot.indexes(tail())
        }
        assumed = latest
        return latest
    }

    /// Checks the indexes that a read without statements has used.
    ///
    /// - Throws: ``OutdatedIndexes``, and errors of the store.
    fileprivate func confirm() throws {
        if assumed != nil, snapshot.connection.beginning != nil { _ = try tail() }
    }

    /// Takes the tail before the read gets the rows of its first statement.
    ///
    /// - Throws: ``OutdatedIndexes``, and errors of the store.
    fileprivate func begin(_ rows: DatabaseRows) throws {
        let tail = try snapshot.connection.tail(rows)
        found = tail
        if let assumed, assumed.generation != tail.generation { throw OutdatedIndexes() }
    }
}

extension DatabaseConnection {
    /// Begins a transaction in which all statements see one state, and returns the store's tail in it.
    ///
    /// The server ends a transaction that is idle for longer than the duration; five seconds if it is nil.
    func begin(reading store: OpenStore, heldFor duration: Duration? = nil) throws -> StoreTail {
        try tail(begin(with: store.tailStatement(), heldFor: duration))
    }

    /// Returns the store's tail in rows; checks the tables, not the format.
    func tail(_ rows: DatabaseRows) throws -> StoreTail {
        guard let row = rows.first else { throw try removal() }
        let tail = StoreTail(row)
        try check(tables: tail.tables)
        return tail
    }

    /// Returns the error of a database that lacks the row of the store.
    func removal() throws -> StorageError {
        let other = DatabaseStatement("SELECT 1 FROM keel.stores LIMIT 1")
        let isEmpty = try exchange([other], .interruptible)[0].first == nil
        // A dump that is not restored in one transaction fills the tables one after the other.
        return isEmpty ? .emptyTables : .removedStore
    }

    /// Checks that the catalog has the numbers of the tables that a statement has read (``StoreTail/tables``).
    ///
    /// - Throws: ``DatabaseFailure`` if the tables were created anew; the connection is then closed.
    func check(tables found: Int64) throws(DatabaseFailure) {
        guard catalog != nil else { return }
        // The catalog of a connection to a standby is its own, and is still empty when its first tail comes.
        let first = timeline == nil ? found : settings.lineage.tables(orFirst: found)
        let known = tables ?? first
        tables = known
        guard known != found else { return }
        close()
        throw .lost("the tables of the store were created anew")
    }

    /// Begins a transaction in which all statements see one state, with its first statement.
    func begin(
        with first: DatabaseStatement,
        heldFor duration: Duration? = nil
    ) throws -> DatabaseRows {
        try openIfNeeded()
        let statements = beginning(with: first, heldFor: duration)
        return try run(statements)[statements.count - 1]
    }

    /// The last of the statements is the transaction's first one.
    private func beginning(
        with first: DatabaseStatement,
        heldFor duration: Duration? = nil
    ) -> [DatabaseStatement] {
        var statements = [DatabaseStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]
        if !isDirect { statements.append(DatabaseStatement(Self.settings(areLocal: true))) }
        if let duration {
            let limit = duration.microseconds / 1000
            statements.append(
                DatabaseStatement(
                    "SELECT set_config('idle_in_transaction_session_timeout', '\(limit)', true)"
                )
            )
        }
        statements.append(first)
        return statements
    }

    /// Runs a read in a transaction of its own, which begins with the read's first statement.
    func transaction<Value>(
        reading snapshot: TableSnapshot,
        _ read: (ReadTransaction) throws -> Value
    ) throws -> Value {
        try openIfNeeded()
        let transaction = ReadTransaction(of: snapshot)
        return try endTransaction {
            beginning = Beginning(
                statements: beginning(with: snapshot.store.tailStatement()),
                take: transaction.begin
            )
            do {
                let result = Result { try read(transaction) }
                try transaction.confirm()
                return try result.get()
            } catch is ReadTransaction.OutdatedIndexes {
                return try read(transaction)
            }
        }
    }

    func endTransaction<Value>(after read: () throws -> Value) throws -> Value {
        do {
            let value = try read()
            // Without a statement, no transaction has begun.
            if beginning.take() == nil { try endRead() }
            return value
        } catch {
            beginning = nil
            // A failed read has nothing to lose, but the transaction must not stay open: the next read would fail with
            // it, or see its state.
            if isOpen { try? end("ROLLBACK") }
            throw error
        }
    }

    /// Ends the transaction of a read; the next exchange takes the answer.
    private func endRead() throws {
        let commit = DatabaseStatement("COMMIT")
        guard let handle, let name = prepared[commit.sql] else { return try end(commit.sql) }
        try send(commit, name: name, on: handle)
        try sendSync(on: handle)
        // The socket was full; the rest would otherwise be sent with the next statement only.
        if PQflush(handle) != 0 { try run([]) }
    }

    /// Runs a statement even if the task has been canceled.
    func end(_ statement: String) throws {
        let ignored = ignoresCancellation
        ignoresCancellation = true
        defer { ignoresCancellation = ignored }
        try run(DatabaseStatement(statement))
    }
}
#endif
