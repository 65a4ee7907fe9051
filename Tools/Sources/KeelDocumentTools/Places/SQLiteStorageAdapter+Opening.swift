internal import Foundation
package import KeelStorageSQLite
internal import KeelToolSupport

extension SQLiteStorageAdapter {
    /// Opens the store of a command.
    ///
    /// Commits survive a power failure.
    ///
    /// - Throws: `ToolError` for a missing file or a folder, or `StorageError`.
    package static func opened(at path: String, for access: StoreAccess) throws
        -> SQLiteStorageAdapter
    {
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard !isFolder.boolValue else {
            throw ToolError(
                "there is no store at “\(path)”, which is a folder",
                advice: "Type the path of the store’s file in it, such as notes.sqlite."
            )
        }
        guard access == .creating || isThere else {
            throw ToolError(
                "there is no store at “\(path)”",
                advice: "Correct the path; import, set, copy and indexes import create a store."
            )
        }
        var configuration = Configuration()
        configuration.durability = .power
        configuration.isReadOnly = access == .reading
        return try SQLiteStorageAdapter(at: .file(path), configuration: configuration)
    }
}
