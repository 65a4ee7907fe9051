#if SQLite
import Foundation
import HTTPTypes
import Keel
import KeelStorageSQLite
import KeelTestKit
import Testing

/// Examples of the comments of KeelStorageSQLite; compiled and not run, see ``CommentExamples``.
extension CommentExamples {
    static func sQLiteStorageAdapter() async throws {
        let store = StorageClient(try SQLiteStorageAdapter(at: .applicationSupport("Notes")))
        _ = store
    }
}
#endif
