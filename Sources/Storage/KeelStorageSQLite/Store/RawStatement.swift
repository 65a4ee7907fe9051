#if SQLite
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import KeelStorageAdapting

extension Database {
    /// Makes SQLite check about every millisecond whether the task has been canceled.
    ///
    /// Only for connections that read: a commit is written for several tasks.
    func endStatementsOfCancelledTasks() {
        sqlite3_progress_handler(sqliteConnection, 10_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
    }

    /// A number that each commit to the file changes, of any connection; nil if SQLite has none.
    ///
    /// It belongs to the current transaction, or to the last one: `SQLITE_FCNTL_DATA_VERSION` in
    /// https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html.
    var dataVersion: UInt32? {
        var version: UInt32 = 0
        let code = sqlite3_file_control(
            sqliteConnection,
            "main",
            SQLITE_FCNTL_DATA_VERSION,
            &version
        )
        return code == SQLITE_OK ? version : nil
    }

    /// Checks that no other file has replaced the open one at its path, because writes would be lost.
    ///
    /// A file that was removed is usable until it is closed.
    ///
    /// - Throws: `StorageError/Code/closed`.
    func checkIsInPlace() throws {
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(
            sqliteConnection,
            "main",
            SQLITE_FCNTL_HAS_MOVED,
            &hasMoved
        )
        guard code == SQLITE_OK, hasMoved != 0,
            let path = sqlite3_db_filename(sqliteConnection, "main"),
            FileManager.default.fileExists(atPath: String(cString: path))
        else { return }
        throw StorageError.replaced
    }

    var onlyReads: Bool { sqlite3_db_readonly(sqliteConnection, nil) == 1 }
}

/// A prepared statement that calls SQLite's functions directly.
///
/// GRDB boxes each argument and column, which costs more per document than SQLite's own work. Statements come from
/// GRDB's cache of the connection, and stay valid as long as this value lives.
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

    func run() throws {
        defer { sqlite3_reset(handle) }
        while try step() {}
    }

    func first<Value>(_ read: (RawStatement) throws -> Value) throws -> Value? {
        defer { sqlite3_reset(handle) }
        return try step() ? try read(self) : nil
    }

    /// Calls `read` with each row until it returns false; returns whether it never did.
    ///
    /// On a read-only connection, this also checks for cancellation before each row.
    @discardableResult
    func each(_ read: (RawStatement) throws -> Bool) throws -> Bool {
        defer { sqlite3_reset(handle) }
        while try step() {
            if Task.isCancelled, sqlite3_db_readonly(connection, nil) == 1 {
                throw StorageError.cancellation
            }
            guard try read(self) else { return false }
        }
        return true
    }

    func integers() throws -> [Int64] {
        var all: [Int64] = []
        try each {
            all.append($0.integer(0))
            return true
        }
        return all
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

    /// `SQLITE_TRANSIENT`, a macro that Swift does not import: SQLite copies bound values.
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

extension RawStatement {
    /// The columns of ``row(keyLength:)``.
    static let columns = "d.rid, d.cid, d.id, d.rev, d.created, d.updated, d.pending, d.body"

    /// Returns the current row of a statement with ``columns``, without copying its bytes.
    func row(keyLength: Int = 0) -> StoredRow {
        StoredRow(
            number: integer(0),
            collection: integer(1),
            id: UnsafeRawBufferPointer(
                start: sqlite3_column_text(handle, 2),
                count: Int(sqlite3_column_bytes(handle, 2))
            ),
            revision: integer(3),
            created: integer(4),
            updated: integer(5),
            body: body(7),
            keyLength: keyLength
        )
    }

    private func body(_ column: Int32) -> UnsafeRawBufferPointer? {
        // An empty body has no address either.
        guard let start = sqlite3_column_blob(handle, column) else {
            return isNull(column) ? nil : UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(
            start: start,
            count: Int(sqlite3_column_bytes(handle, column))
        )
    }

    @discardableResult
    func eachRow(_ take: (borrowing StoredRow) throws -> Bool) throws -> Bool {
        try each { try take($0.row()) }
    }
}

extension Database {
    func runCached(_ sql: String, _ arguments: Int64...) throws {
        let statement = try RawStatement(self, sql)
        for (place, argument) in arguments.enumerated() {
            try statement.bind(Int32(place + 1), argument)
        }
        try statement.run()
    }

    /// Runs `write` in a transaction that begins as a writer's.
    ///
    /// GRDB's `inTransaction` prepares the surrounding statements each time. These run through GRDB too, for its
    /// observers.
    func inWriteTransaction(_ write: () throws -> Void) throws {
        try cachedStatement(sql: "BEGIN IMMEDIATE").execute()
        do {
            try write()
            try cachedStatement(sql: "COMMIT").execute()
        } catch {
            // After some errors, such as a full disk, SQLite has already rolled back.
            if isInsideTransaction { try? rollback() }
            throw error
        }
    }

    func inSnapshot<Value>(_ read: () throws -> Value) throws -> Value {
        do {
            try runCached("BEGIN DEFERRED")
            let value = try read()
            try runCached("COMMIT")
            return value
        } catch {
            // A failed read has nothing to lose, but the snapshot must not stay open. SQLite adds up the steps of all runs
            // of a statement, and every 10,000 steps ends it for a canceled task: BEGIN even after its effect, and a
            // cached ROLLBACK before it. GRDB's is prepared each time.
            if isInsideTransaction { try? rollback() }
            throw error
        }
    }
}
#endif
