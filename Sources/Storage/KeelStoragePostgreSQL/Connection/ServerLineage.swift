#if PostgreSQL
internal import KeelStorageAdapting
internal import Synchronization

/// Determines for an adapter's connections which of the servers that they reach share one history of the data.
///
/// After a failover, the new primary may lack the last commits of the old one, and give their numbers to other
/// collections and indexes. So a catalog is shared only by connections that see the same history, and a server that was
/// left behind by a promotion is not used any more, also over connections that are still open.
///
/// Timelines are compared only within a cluster, which `initdb` or `pg_upgrade` creates and standbys copy. Another
/// cluster at the same address has a lineage of its own.
final class ServerLineage: Sendable {
    private struct State {
        /// The identifier of the cluster.
        var system: Int64?
        /// The latest timeline of a server: PostgreSQL begins a new one with each promotion and each restoration.
        var timeline: Int64 = 0
        var catalog = StoreCatalog()
    }

    private let state = Mutex(State())
    private let store = Mutex<OpenStore?>(nil)

    /// Makes later connections check that the server has a store.
    func expect(_ store: OpenStore) { self.store.withLock { $0 = store } }

    /// The statement that returns a row if a server has the expected store; nil if none is expected yet.
    var expectation: DatabaseStatement? {
        store.withLock { $0 }?.nameStatement
    }

    /// Returns the catalog for a new connection to a server.
    ///
    /// - Parameters:
    ///   - timeline: The timeline of the server.
    ///   - system: The identifier of its cluster.
    /// - Returns: The catalog that the connections to the cluster share.
    /// - Throws: ``DatabaseFailure`` if another server of the cluster has a later timeline.
    func catalog(
        on timeline: Int64,
        of system: Int64
    ) throws(DatabaseFailure) -> StoreCatalog {
        let (catalog, latest) = state.withLock { state -> (StoreCatalog?, Int64) in
            if state.system != system { state = State(system: system) }
            guard timeline >= state.timeline else { return (nil, state.timeline) }
            if timeline > state.timeline {
                state.timeline = timeline
                state.catalog = StoreCatalog()
            }
            return (state.catalog, timeline)
        }
        guard let catalog else {
            throw .lost(
                "the server is on timeline \(timeline), but another one was promoted to timeline \(latest)"
            )
        }
        return catalog
    }

    /// Returns whether the last connection was to a server of a timeline, so that no later one is known.
    func isLatest(_ timeline: Int64) -> Bool { state.withLock { $0.timeline == timeline } }

    /// Gives later connections a new catalog, because the server may have lost commits that it had not flushed.
    func forgetCatalog() { state.withLock { $0.catalog = StoreCatalog() } }
}
#endif
