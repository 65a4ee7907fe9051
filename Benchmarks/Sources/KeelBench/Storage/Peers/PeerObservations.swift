import Dispatch
import Foundation
import GRDB
import KeelStorage

/// Observes rows with one `ValueObservation` each.
///
/// As GRDB's guide recommends, the region is constant, which lets GRDB read outside of the write transaction, and
/// repeated values are dropped.
final class PeerObservations {
    private var cancellables: [AnyDatabaseCancellable] = []
    private let delivered: AsyncStream<String>.Continuation
    let deliveries: AsyncStream<String>

    init() { (deliveries, delivered) = AsyncStream.makeStream() }

    /// Observes rows by their text id, the key of documents.
    ///
    /// SQLite identifies a changed row by its number, not its text key, so GRDB must query every observation again.
    func observe(textIDs ids: [String], in pool: DatabasePool) {
        for id in ids {
            start(
                in: pool,
                id,
                ValueObservation.trackingConstantRegion { database in
                    try Data.fetchOne(
                        try database.cachedStatement(
                            sql: "SELECT body FROM documents WHERE id = ?"
                        ),
                        arguments: [id]
                    )
                }
            )
        }
    }

    /// Observes rows by their number, with which GRDB can identify the changed row.
    func observe(rowIDs: [(number: Int64, id: String)], in pool: DatabasePool) {
        for (number, id) in rowIDs {
            let region = Table("documents").filter(Column.rowID == number)
            start(
                in: pool,
                id,
                ValueObservation.tracking(region: region) { database in
                    try Data.fetchOne(
                        try database.cachedStatement(
                            sql: "SELECT body FROM documents WHERE rowid = ?"
                        ),
                        arguments: [number]
                    )
                }
            )
        }
    }

    private func start(
        in pool: DatabasePool,
        _ id: String,
        _ observation: ValueObservation<ValueReducers.Fetch<Data?>>
    ) {
        let delivered = delivered
        cancellables.append(
            observation.removeDuplicates().start(
                in: pool,
                scheduling: .async(onQueue: .global()),
                onError: { _ in delivered.finish() },
                onChange: { _ in delivered.yield(id) }
            )
        )
    }

    func cancel() {
        for cancellable in cancellables { cancellable.cancel() }
        cancellables = []
        delivered.finish()
    }
}
