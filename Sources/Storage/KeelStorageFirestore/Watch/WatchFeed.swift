package import KeelStorageAdapting

/// The changes of queries and documents on a server that has Firestore's Listen method; copies of an adapter share it.
package final class WatchFeed: Sendable {
    private let connection: WatchConnection

    package init(_ connection: WatchConnection) { self.connection = connection }

    deinit { connection.shutdown() }

    package var targetCount: Int { get async { await connection.targetCount } }

    /// Returns the changes of a query’s result, or of documents, with the guarantees of `ChangeRequest/query`.
    package func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await connection.page(request)
    }
}
