#if PostgreSQL && Observability
internal import KeelStorageAdapting
public import Metrics

extension PostgreSQLStorageAdapter {
    /// Reports ``statistics()`` to swift-metrics until the task is canceled.
    ///
    /// | Metric | Kind |
    /// |---|---|
    /// | `keel_postgresql_up` | Gauge: 1, or 0 while the server cannot be asked |
    /// | `keel_postgresql_groups`, `…_failed_groups`, `…_writes` | Counters |
    /// | `keel_postgresql_tail_wait_seconds` | Counter of seconds; divide its rate by that of the groups |
    /// | `keel_postgresql_longest_tail_wait_seconds` | Gauge |
    /// | `keel_postgresql_waiting_calls` | Gauge |
    /// | `keel_postgresql_feed_lag_seconds` | Gauge, once the adapter follows changes |
    /// | `keel_postgresql_oldest_transaction_seconds` | Gauge |
    /// | `keel_postgresql_standby_lag_seconds`, `…_bytes` | Gauges by `standby` |
    ///
    /// All have the dimension `store`.
    ///
    /// - Parameters:
    ///   - label: The name of the store.
    ///   - factory: The metrics factory; nil for swift-metrics' factory at the time of this call.
    ///   - interval: The time between two reports.
    public func reportMetrics(
        label: String = "storage",
        to factory: (any MetricsFactory)? = nil,
        every interval: Duration = .seconds(10)
    ) async {
        var report = StatisticsReport(store: label, factory ?? MetricsSystem.factory)
        while !Task.isCancelled {
            report.record(try? await statistics())
            do { try await configuration.clock.sleep(for: interval) } catch { return }
        }
    }
}

/// The reports of one adapter's statistics.
struct StatisticsReport {
    private let dimensions: [(String, String)]
    private let factory: any MetricsFactory
    private var last = PostgreSQLStorageAdapter.Statistics()

    init(store: String, _ factory: any MetricsFactory) {
        dimensions = [("store", store)]
        self.factory = factory
    }

    /// Reports statistics; nil if the server could not be asked.
    mutating func record(_ statistics: PostgreSQLStorageAdapter.Statistics?) {
        gauge("up", statistics == nil ? 0 : 1)
        guard let statistics else { return }
        count("groups", statistics.groupCount - last.groupCount)
        count("failed_groups", statistics.failedGroupCount - last.failedGroupCount)
        count("writes", statistics.writeCount - last.writeCount)
        FloatingPointCounter(
            label: "keel_postgresql_tail_wait_seconds",
            dimensions: dimensions,
            factory: factory
        ).increment(by: (statistics.tailWait - last.tailWait) / .seconds(1))
        gauge("longest_tail_wait_seconds", statistics.longestTailWait)
        gauge("waiting_calls", Double(statistics.waitingCallCount))
        if let lag = statistics.feedLag { gauge("feed_lag_seconds", lag) }
        gauge("oldest_transaction_seconds", statistics.oldestTransaction ?? .zero)
        for standby in statistics.standbys {
            if let lag = standby.lag { gauge("standby_lag_seconds", lag, of: standby.name) }
            if let bytes = standby.lagBytes {
                gauge("standby_lag_bytes", Double(bytes), of: standby.name)
            }
        }
        last = statistics
    }

    private func count(_ name: String, _ number: Int) {
        Counter(label: "keel_postgresql_\(name)", dimensions: dimensions, factory: factory)
            .increment(by: number)
    }

    private func gauge(_ name: String, _ duration: Duration, of standby: String? = nil) {
        gauge(name, duration / .seconds(1), of: standby)
    }

    private func gauge(_ name: String, _ value: Double, of standby: String? = nil) {
        Gauge(
            label: "keel_postgresql_\(name)",
            dimensions: dimensions + (standby.map { [("standby", $0)] } ?? []),
            factory: factory
        ).record(value)
    }
}
#endif
