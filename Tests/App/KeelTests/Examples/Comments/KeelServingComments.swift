#if SQLite
import Foundation
import HTTPTypes
import Keel
import KeelServing
import KeelTestKit
import Testing

/// Examples from the comments of KeelServing; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func storageServer(_ file: SQLiteStorageLocation) async throws {
        let server = StorageServer(adapter: try SQLiteStorageAdapter(at: file))
        _ = server
    }
}
#endif
