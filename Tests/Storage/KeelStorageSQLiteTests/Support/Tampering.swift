#if SQLite
import GRDB
import KeelStorageSQLite

/// Changes a store's file without the adapter.
enum Tampering {
    static func run(_ sql: String, on adapter: SQLiteStorageAdapter) async throws {
        try await adapter.databasePool.write { try $0.execute(sql: sql) }
    }
}
#endif
