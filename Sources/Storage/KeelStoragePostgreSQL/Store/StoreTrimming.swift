#if PostgreSQL
internal import KeelStorageAdapting
internal import Synchronization

/// Removes what is older than a store keeps, a little at a time, in the transaction of a commit.
struct StoreTrimming {
    private static let mostChanges = 10_000
    private static let mostReceipts = 10_000
    private static let mostImages = 1_000

    private let retention: PostgreSQLStorageAdapter.Configuration.Retention
    private let store: Int64
    private let now: Int64
    private let historyAge: Int64?

    init(
        _ retention: PostgreSQLStorageAdapter.Configuration.Retention,
        _ store: OpenStore,
        _ tail: StoreTail
    ) {
        self.retention = retention
        self.store = store.number
        // A clock that is ahead of the store must not age what was written a moment ago.
        now = min(store.time(tail).microseconds, tail.sequence)
        historyAge = tail.historyAge
    }

    var statements: [DatabaseStatement] {
        var statements = [
            statement(
                """
                WITH kept AS (
                    SELECT max(seq) AS seq FROM (
                        SELECT seq FROM keel.changes WHERE store = $1 AND seq <= $2
                        ORDER BY seq LIMIT \(Self.mostChanges)
                    ) c
                ), gone AS (
                    DELETE FROM keel.changes c USING kept WHERE c.store = $1 AND c.seq < kept.seq
                )
                UPDATE keel.stores s SET trimmed = greatest(s.trimmed, kept.seq) FROM kept
                WHERE s.store = $1 AND kept.seq IS NOT NULL
                """,
                olderThan: retention.age.microseconds
            ),
            statement(
                """
                DELETE FROM keel.receipts WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM keel.receipts WHERE store = $1 AND time <= $2
                    ORDER BY time LIMIT \(Self.mostReceipts)))
                """,
                olderThan: retention.receiptAge.microseconds
            ),
        ]
        if let historyAge {
            statements.append(
                statement(
                    """
                    WITH gone AS (
                        DELETE FROM keel.history WHERE ctid = ANY (ARRAY(
                            SELECT ctid FROM keel.history WHERE store = $1 AND time + 0 <= $2
                            ORDER BY time + 0 LIMIT \(Self.mostImages)))
                        RETURNING time
                    ), last AS (SELECT max(time) AS time FROM gone)
                    UPDATE keel.stores s SET history_start = greatest(s.history_start, last.time) FROM last
                    WHERE s.store = $1 AND last.time IS NOT NULL
                    """,
                    olderThan: historyAge
                )
            )
        }
        return statements
    }

    private func statement(_ sql: String, olderThan age: Int64) -> DatabaseStatement {
        DatabaseStatement(sql) {
            $0.add(store)
            $0.add(now - age)
        }
    }
}

/// The times at which an adapter trims.
final class TrimmingPace: Sendable {
    private static let interval = Duration.seconds(60)

    private let next = Mutex<ContinuousClock.Instant?>(nil)

    /// Returns whether some time has passed since the last call that returned true; the first call does.
    func isDue() -> Bool {
        next.withLock { next in
            let now = ContinuousClock.now
            guard next.map({ $0 <= now }) ?? true else { return false }
            next = now + Self.interval
            return true
        }
    }
}
#endif
