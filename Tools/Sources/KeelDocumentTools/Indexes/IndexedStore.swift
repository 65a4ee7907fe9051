package import KeelStorage
package import KeelStorageAdapting
internal import KeelStorageSQLite

#if PostgreSQL
internal import KeelStoragePostgreSQL
#endif

/// A store whose indexes can be listed and dropped.
package protocol IndexedStore: Sendable {
    func indexes() async throws(StorageError) -> [IndexStatus]
    /// Builds the rest of the declared indexes; one with an unreadable document stays incomplete.
    func finishIndexes() async throws(StorageError)
    func dropIndexes(in schema: StorageSchema) async throws(StorageError)
}

extension SQLiteStorageAdapter: IndexedStore {}

#if PostgreSQL
extension PostgreSQLStorageAdapter: IndexedStore {}
#endif
