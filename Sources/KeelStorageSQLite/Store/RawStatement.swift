#if SQLite
internal import GRDB
internal import GRDBSQLite
internal import KeelStorageAdapting

extension Database {
    /// Lets SQLite ask every ten thousand steps of a statement, about a millisecond, whether the task that
    /// runs it was cancelled.
    ///
    /// Only for connections that read: a commit is written for several tasks.
    func endStatementsOfCancelledTasks() {
        sqlite3_progress_handler(sqliteConnection, 10_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
    }

    /// Whether the connection only reads, so that what it does is done for one task.
    var onlyReads: Bool { sqlite3_db_readonly(sqliteConnection, nil) == 1 }
}

/// A prepared statement that is driven through SQLite's own functions.
///
/// GRDB boxes each argument and each column in an enum. On the way of every document that costs
/// more than SQLite's own work, so the adapter binds and reads directly. Statements come from
/// GRDB's cache of the connection and stay valid as long as this value lives.
struct RawStatement {
    private let statement: Statement
    private let handle: OpaquePointer
    private let connection: OpaquePointer?

    init(_ database: Database, _ sql: String) throws {
        statement = try database.cachedStatement(sql: sql)
        handle = statement.sqliteStatement
        connection = database.sqliteConnection
    }

    // MARK: Running

    /// Runs the statement to its end.
    func run() throws {
        defer { sqlite3_reset(handle) }
        while try step() {}
    }

    /// Returns what `read` makes of the first row, nil if there is none.
    func first<Value>(_ read: (RawStatement) throws -> Value) throws -> Value? {
        defer { sqlite3_reset(handle) }
        return try step() ? try read(self) : nil
    }

    /// Calls `read` with each row until it returns false.
    ///
    /// On a connection that only reads, it ends with the task: what is done with a row takes longer than
    /// SQLite's own steps, which ask too.
    func each(_ read: (RawStatement) throws -> Bool) throws {
        defer { sqlite3_reset(handle) }
        while try step() {
            if Task.isCancelled, sqlite3_db_readonly(connection, nil) == 1 {
                throw StorageError.cancellation
            }
            guard try read(self) else { return }
        }
    }

    private func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw failure
        }
    }

    private var failure: DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: connection.map { String(cString: sqlite3_errmsg($0)) },
            sql: statement.sql
        )
    }

    // MARK: Arguments, counted from 1

    func bind(_ index: Int32, _ value: Int64) throws {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ index: Int32, _ value: Int) throws { try bind(index, Int64(value)) }

    func bind(_ index: Int32, _ text: String) throws {
        var text = text
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                // An empty buffer may have no address, which would bind NULL.
                characters.baseAddress.map {
                    sqlite3_bind_text(handle, index, $0, Int32(characters.count), Self.copied)
                } ?? sqlite3_bind_text(handle, index, "", 0, Self.copied)
            }
        }
        try check(code)
    }

    func bind(_ index: Int32, _ bytes: [UInt8]) throws {
        let code = bytes.withUnsafeBytes { buffer in
            buffer.isEmpty
                ? sqlite3_bind_zeroblob(handle, index, 0)
                : sqlite3_bind_blob(
                    handle,
                    index,
                    buffer.baseAddress,
                    Int32(buffer.count),
                    Self.copied
                )
        }
        try check(code)
    }

    private func check(_ code: Int32) throws {
        guard code != SQLITE_OK else { return }
        throw failure
    }

    /// Tells SQLite to copy what is bound: `SQLITE_TRANSIENT`, a macro that Swift does not import.
    private static var copied: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    // MARK: Columns, counted from 0

    var columnCount: Int32 { sqlite3_column_count(handle) }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return [UInt8](
            UnsafeRawBufferPointer(
                start: start,
                count: Int(sqlite3_column_bytes(handle, column))
            )
        )
    }
}

extension Database {
    /// Runs a statement that is used often enough to stay prepared.
    func runCached(_ sql: String) throws { try RawStatement(self, sql).run() }

    /// Writes in one transaction that begins as a writer's.
    ///
    /// GRDB's own `inTransaction` prepares the statements around it anew each time. These run
    /// through GRDB too, so that its observers are told.
    func inWriteTransaction(_ write: () throws -> Void) throws {
        try cachedStatement(sql: "BEGIN IMMEDIATE").execute()
        do {
            try write()
            try cachedStatement(sql: "COMMIT").execute()
        } catch {
            // SQLite has undone it already after some errors, such as a full disk.
            if isInsideTransaction { try? rollback() }
            throw error
        }
    }

    /// Reads in one snapshot, without the cost of GRDB's own transaction.
    func inSnapshot<Value>(_ read: () throws -> Value) throws -> Value {
        try runCached("BEGIN DEFERRED")
        do {
            let value = try read()
            try runCached("COMMIT")
            return value
        } catch {
            // A failed read has nothing to lose; only the snapshot must not stay open.
            if isInsideTransaction { try? runCached("ROLLBACK") }
            throw error
        }
    }
}
#endif
