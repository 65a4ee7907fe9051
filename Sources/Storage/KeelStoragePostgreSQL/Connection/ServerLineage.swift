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
///
/// The numbers of collections and indexes are also others in tables that were dropped and created anew, such as to
/// restore a dump. Connections that have seen the former tables are not used any more either.
final class ServerLineage: Sendable {
    private struct State {
        /// The identifier of the cluster.
        var system: Int64?
        /// The latest timeline of a server: PostgreSQL begins a new one with each promotion and each restoration.
        var timeline: Int64 = 0
        /// The tables whose numbers the catalog has (``StoreTail/tables``); nil if they are not known yet.
        var tables: Int64?
        var catalog = StoreCatalog()
    }

    private let state = Mutex(State())
    private let store = Mutex<OpenStore?>(nil)

    /// Makes later connections check that the server has a store.
    func expect(_ store: OpenStore) { self.store.withLock { $0 = store } }

    /// The statement that returns the tables of a server with the expected store, and else no row; nil if no store is
    /// expected yet.
    var expectation: DatabaseStatement? {
        store.withLock { $0 }?.nameStatement
    }

    /// Returns the catalog for a new connection to a server; `tables` is nil if they are not known yet.
    ///
    /// - Returns: The catalog that the connections to the cluster share.
    /// - Throws: ``DatabaseFailure`` if another server of the cluster has a later timeline.
    func catalog(
        on timeline: Int64,
        of system: Int64,
        tables: Int64?
    ) throws(DatabaseFailure) -> StoreCatalog {
        let (catalog, latest) = state.withLock { state -> (StoreCatalog?, Int64) in
            if state.system != system { state = State(system: system) }
            guard timeline >= state.timeline else { return (nil, state.timeline) }
            if timeline > state.timeline {
                state.timeline = timeline
                state.catalog = StoreCatalog()
            }
            if let tables {
                if tables != state.tables ?? tables { state.catalog = StoreCatalog() }
                state.tables = tables
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

    /// Returns the tables whose numbers the catalog has: those that were found, if none were known.
    func tables(orFirst found: Int64) -> Int64 {
        state.withLock { state in
            let tables = state.tables ?? found
            state.tables = tables
            return tables
        }
    }

    /// Returns whether the last connection was to a server of a timeline, so that no later one is known, and found these
    /// tables; nil is any.
    func isLatest(_ timeline: Int64, _ tables: Int64?) -> Bool {
        state.withLock { state in
            state.timeline == timeline && (tables == nil || tables == state.tables)
        }
    }

    /// Gives later connections a new catalog, because the server may have lost commits that it had not flushed.
    func forgetCatalog() { state.withLock { $0.catalog = StoreCatalog() } }
}
#endif
