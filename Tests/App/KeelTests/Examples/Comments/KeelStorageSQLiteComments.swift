#if SQLite
import Foundation
import HTTPTypes
import Keel
import KeelStorageSQLite
import KeelTestKit
import Testing

/// Examples from the comments of KeelStorageSQLite; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func sQLiteStorageAdapter() async throws {
        let store = StorageClient(try SQLiteStorageAdapter(at: .applicationSupport("Notes")))
        _ = store
    }

    static func dropIndexes(
        _ adapter: SQLiteStorageAdapter,
        _ declared: [StorageSchema]
    ) async throws {
        // Keeps only what this release declares.
        for index in try await adapter.indexes() where !declared.contains(index.schema) {
            try await adapter.dropIndexes(in: index.schema)
        }
    }

    static func reseal(_ adapter: SQLiteStorageAdapter) async throws {
        while try await adapter.reseal().resealed > 0 {}
    }
}
#endif
