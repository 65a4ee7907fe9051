#if SQLite
internal import GRDB
internal import KeelStorageAdapting

extension StoreCatalog {
    /// Whether collections have keys; once they have, they keep them.
    func hasKeys(in database: Database) throws -> Bool {
        if knowsKeys { return true }
        let hasKeys = try StoreFormat.hasColumn("key", in: "collections", database)
        if hasKeys { rememberKeys() }
        return hasKeys
    }
}
#endif
