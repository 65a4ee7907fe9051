#if PostgreSQL
import KeelStorage
import KeelStorageAdapting

@testable import KeelStoragePostgreSQL

/// Reads a store on a standby, whatever it lacks, as an adapter reads it on the primary.
struct StandbyReader: Sendable {
    private let thread: ConnectionThread
    private let store: OpenStore

    init(_ standby: PostgreSQLServer, of adapter: PostgreSQLStorageAdapter) throws {
        thread = try .test(standby.url(PostgreSQLServer.role, "?target_session_attrs=any"))
        store = adapter.store
    }

    /// Returns a page of changes, without waiting for one, and the documents at some paths, in one snapshot.
    func read(
        _ request: ChangeRequest,
        with paths: [DocumentPath] = []
    ) async throws -> (page: ChangePage, documents: ReadResult) {
        try await thread.run { [store] connection in
            let snapshot = TableSnapshot(connection, store)
            return try connection.transaction(reading: snapshot) {
                transaction -> (page: ChangePage, documents: ReadResult) in
                let tail = try transaction.tail()
                let page = try ChangePageReader(
                    request,
                    in: snapshot,
                    tail.log,
                    epoch: store.epoch
                ).page()
                var documents = try snapshot.answer(ReadRequest(.documents(paths)), past: nil) {
                    // Reads by path use no index.
                    throw CancellationError()
                }
                documents.position = store.cursor(tail.point)
                return (page, documents)
            }
        }
    }

    func close() async { await thread.close() }
}
#endif
