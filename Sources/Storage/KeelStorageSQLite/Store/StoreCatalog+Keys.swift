#if SQLite
internal import GRDB
internal import KeelStorageAdapting

extension StoreCatalog {
    /// Returns whether collections have keys, which are never removed.
    func hasKeys(in database: Database) throws -> Bool {
        if knowsKeys { return true }
        let hasKeys = try StoreFormat.hasColumn("key", in: "collections", database)
        if hasKeys { rememberKeys() }
        return hasKeys
    }
}
#endif
