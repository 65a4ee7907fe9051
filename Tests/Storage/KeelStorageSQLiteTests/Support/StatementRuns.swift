#if SQLite
import GRDB
import GRDBSQLite

@testable import KeelStorageSQLite

extension SQLiteStorageAdapter {
    /// Returns how often the connection that read last has run statements with a text.
    func runs(ofStatementsWith text: String) throws -> Int32 {
        try connections.read { database in
            var runs: Int32 = 0
            var next = sqlite3_next_stmt(database.sqliteConnection, nil)
            while let statement = next {
                if let sql = sqlite3_sql(statement), String(cString: sql).contains(text) {
                    runs += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0)
                }
                next = sqlite3_next_stmt(database.sqliteConnection, statement)
            }
            return runs
        }
    }
}
#endif
