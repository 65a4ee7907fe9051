#if PostgreSQL
internal import KeelStorageAdapting
internal import Synchronization

/// Determines which of the servers that an adapter's connections reach share one history of the data.
///
/// After a failover, the new primary may lack the last commits of the old one, and give their numbers to other
/// collections and indexes. Tables that were created anew, as for a restored dump, have other numbers too. Only
/// connections that see the same history share a catalog; open connections to a former primary or former tables are no
/// longer used.
///
/// Timelines are compared only within a cluster, which `initdb` or `pg_upgrade` creates and standbys copy. Another
/// cluster at the same address has a lineage of its own.
final class ServerLineage: Sendable {
    private struct State {
        var system: Int64?
        /// The latest timeline: PostgreSQL begins a new one with each promotion and each restoration.
        var timeline: Int64 = 0
        /// The tables whose numbers the catalog has (``StoreTail/tables``); nil if they are not known.
        var tables: Int64?
        var catalog = StoreCatalog()
    }

    private let state = Mutex(State())
    private let store = Mutex<OpenStore?>(nil)

    func expect(_ store: OpenStore) { self.store.withLock { $0 = store } }

    /// The statement that returns the tables of a server, and no row without the expected store; nil if none is
    /// expected.
    var expectation: DatabaseStatement? {
        store.withLock { $0 }?.nameStatement
    }

    /// Returns the catalog for a new connection to a server, which the connections to the cluster share.
    ///
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

    /// Returns the tables whose numbers the catalog has, which are the found ones if none were known.
    func tables(orFirst found: Int64) -> Int64 {
        state.withLock { state in
            let tables = state.tables ?? found
            state.tables = tables
            return tables
        }
    }

    /// Returns whether a timeline is the latest one, and the tables, unless nil, are those of the catalog.
    func isLatest(_ timeline: Int64, _ tables: Int64?) -> Bool {
        state.withLock { state in
            state.timeline == timeline && (tables == nil || tables == state.tables)
        }
    }

    /// Gives later connections a new catalog, because the server may have lost commits that it had not flushed.
    func forgetCatalog() { state.withLock { $0.catalog = StoreCatalog() } }
}
#endif
