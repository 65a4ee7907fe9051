#if PostgreSQL
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// Figures about an adapter's work and the state of its database, for monitoring.
    ///
    /// The counts begin when the adapter is opened, and cover only this adapter.
    public struct Statistics: Sendable, Hashable {
        /// A standby that follows the primary.
        public struct Standby: Sendable, Hashable {
            /// The standby's `application_name`.
            public var name: String
            /// The state, such as `streaming`; empty if the role may not see it.
            public var state: String
            /// Whether commits may wait for the standby's confirmation; false if the role may not see it.
            public var isSynchronous: Bool
            /// The delay of the standby's replay, zero if it has replayed everything; nil if unknown.
            public var lag: Duration?
            /// The size of the write-ahead log that the standby has not replayed, in bytes; nil if unknown.
            public var lagBytes: Int64?
        }

        /// The number of groups of commits that did not fail; each is one transaction.
        public var groupCount = 0
        /// The number of groups that failed as a whole; the batches of each caller may then have been written alone.
        public var failedGroupCount = 0
        /// The number of writes in the groups, including those of rejected batches.
        public var writeCount = 0
        /// The sum of the times until groups had the lock on the row of the store, including at least one round trip to
        /// the server.
        public var tailWait = Duration.zero
        /// The longest such time within the last minute or two.
        public var longestTailWait = Duration.zero
        /// The number of reads that allowed staleness and that a standby answered.
        public var standbyReadCount = 0
        /// The number of reads that allowed enough staleness, but were left to the primary: no standby was reachable,
        /// or it failed or was behind.
        public var standbyFallbackCount = 0
        /// The number of calls that wait for their turn to write.
        public var waitingCallCount = 0
        /// The number of connections that read from the primary, at most
        /// ``PostgreSQLStorageAdapter/Configuration/readerCount``.
        public var readerCount = 0
        /// The number of connections that the adapter does without, for at least 30 seconds, because the server refused
        /// them.
        public var refusedReaderCount = 0
        /// The age of the oldest change that the adapter has not announced to its listeners; nil if it follows no
        /// changes.
        public var feedLag: Duration?
        /// The age of the oldest transaction of the database that keeps the server from cleaning up; nil if there is
        /// none.
        ///
        /// Sessions of other roles count only if ``seesOtherRoles`` is true; prepared transactions always count.
        public var oldestTransaction: Duration?
        /// The age of the oldest snapshot that keeps the server from cleaning up, as the number of transactions since;
        /// nil if there is none.
        ///
        /// It may be the snapshot of a replication slot, or of a query on a standby with `hot_standby_feedback`.
        /// Sessions and standbys count only as far as ``seesOtherRoles`` is true.
        public var oldestSnapshotTransactionCount: Int?
        /// Whether the adapter's role sees the sessions of other roles and the lags of standbys, as with `pg_monitor`.
        public var seesOtherRoles = false
        /// The standbys of the primary, in the order of their names.
        public var standbys: [Standby] = []

        /// The average number of writes in a group; zero without groups.
        public var writesPerGroup: Double {
            groupCount == 0 ? 0 : Double(writeCount) / Double(groupCount)
        }
    }

    /// Returns the current figures, with one round trip to the server.
    ///
    /// - Throws: The error of a read if the server cannot be asked.
    public func statistics() async throws(StorageError) -> Statistics {
        do throws(StorageError) {
            let (counts, longestWait) = counts.read()
            var statistics = Statistics()
            statistics.groupCount = counts.groups
            statistics.failedGroupCount = counts.failedGroups
            statistics.writeCount = counts.writes
            statistics.tailWait = counts.tailWait
            statistics.longestTailWait = longestWait
            statistics.standbyReadCount = counts.standbyReads
            statistics.standbyFallbackCount = counts.standbyFallbacks
            statistics.waitingCallCount = line.count
            let followed = watch.followed
            var complete = try await pool.reading(isQuick: true) { [store, statistics] connection in
                try statistics.completed(of: store, after: followed, on: connection)
            }
            complete.readerCount = pool.readerCount
            complete.refusedReaderCount = pool.refusedCount
            return complete
        } catch {
            throw error.during("statistics")
        }
    }

    /// Returns the statistics for a report; nil if they fail or take more than five seconds.
    ///
    /// Prometheus waits ten seconds for a page; a later one would not say that the server is silent.
    func reportedStatistics() async -> Statistics? {
        let context = StorageContext().limited(to: .seconds(5), on: configuration.clock)
        return try? await context.run { () async throws(StorageError) -> Statistics in
            try await self.statistics()
        }
    }
}

extension PostgreSQLStorageAdapter.Statistics {
    fileprivate func completed(
        of store: OpenStore,
        after followed: Int64?,
        on connection: DatabaseConnection
    ) throws -> Self {
        var statements = [
            DatabaseStatement(
                """
                SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'), (\(ServerActivity.oldestAge)),
                    (SELECT max(held) FROM (\(ServerActivity.snapshots)) s)
                """
            ),
            DatabaseStatement(ServerActivity.standbys),
        ]
        if let followed {
            statements.append(
                DatabaseStatement(
                    """
                    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - seq FROM keel.changes
                    WHERE store = $1 AND seq > $2 ORDER BY seq LIMIT 1
                    """
                ) {
                    $0.add(store.number)
                    $0.add(followed)
                }
            )
        }
        let rows = try connection.run(statements)
        var complete = self
        complete.seesOtherRoles = rows[0].first?.boolean(0) ?? false
        complete.oldestTransaction = rows[0].first?.optional(1).map { .microseconds($0) }
        complete.oldestSnapshotTransactionCount = rows[0].first?.optional(2).map { Int($0) }
        complete.standbys = rows[1].map(Standby.init)
        if followed != nil {
            // Sequences follow the clock, but may be ahead of it.
            let lag = rows[2].first?.integer(0) ?? 0
            complete.feedLag = .microseconds(max(0, lag))
        }
        return complete
    }
}

extension PostgreSQLStorageAdapter.Statistics.Standby {
    init(_ row: DatabaseRow) {
        self.init(
            name: row.text(0),
            state: row.text(1),
            isSynchronous: row.boolean(2),
            lag: row.optional(3).map { .microseconds($0) },
            lagBytes: row.optional(4)
        )
    }
}

enum ServerActivity {
    /// The transactions that keep the server from removing old versions of rows in this database: age in microseconds,
    /// process, program, role, state, and name of a prepared one.
    static let transactions = """
        SELECT (extract(epoch FROM clock_timestamp() - xact_start) * 1000000)::bigint AS age, pid,
            application_name::text AS program, usename::text AS role, coalesce(state, '')::text AS state, NULL AS gid
        FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'
        AND xact_start IS NOT NULL AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
        UNION ALL
        SELECT (extract(epoch FROM clock_timestamp() - prepared) * 1000000)::bigint, NULL, '', owner::text, 'prepared',
            gid
        FROM pg_prepared_xacts WHERE database = current_database()
        """

    static let oldestAge = "SELECT max(age) FROM (\(transactions)) t"

    /// The snapshots that keep the server from removing old versions of rows in this database: the number of
    /// transactions since, the kind of the holder (`transaction`, `standby` or `slot`), and its name.
    ///
    /// A standby with `hot_standby_feedback` holds the snapshots of its own queries here, in its slot if it has one.
    static let snapshots = """
        SELECT greatest(age(backend_xmin), age(backend_xid)) AS held, 'transaction' AS kind,
            application_name::text AS name
        FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'
        AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
        UNION ALL
        SELECT age(transaction), 'transaction', gid FROM pg_prepared_xacts WHERE database = current_database()
        UNION ALL
        SELECT age(backend_xmin), 'standby', application_name::text FROM pg_stat_replication
        WHERE backend_xmin IS NOT NULL
        UNION ALL
        SELECT age(xmin), 'slot', slot_name::text FROM pg_replication_slots WHERE xmin IS NOT NULL
        """

    /// The standbys: name, state, whether it is synchronous, and the lag in microseconds and in bytes.
    ///
    /// The lags are `NULL` if the role may not see them, and until the standby has reported. The server reports none
    /// once a standby has replayed everything for a while.
    static let standbys = """
        SELECT application_name::text, coalesce(state, '')::text, coalesce(sync_state IN ('sync', 'quorum'), false),
            CASE WHEN bytes = 0 THEN 0 ELSE (extract(epoch FROM replay_lag) * 1000000)::bigint END, bytes
        FROM (
            SELECT *, CASE WHEN pg_is_in_recovery() OR replay_lsn IS NULL THEN NULL
                ELSE greatest(0, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::bigint END AS bytes
            FROM pg_stat_replication
        ) s
        ORDER BY 1
        """
}
#endif
