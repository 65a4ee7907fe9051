#if PostgreSQL && Observability
internal import KeelStorageAdapting
public import Metrics

extension PostgreSQLStorageAdapter {
    /// Reports ``statistics()`` to swift-metrics until the task is canceled.
    ///
    /// | Metric | Kind |
    /// |---|---|
    /// | `keel_postgresql_up` | Gauge: 1; 0 without the others if the statistics fail or take over five seconds |
    /// | `keel_postgresql_groups`, `…_failed_groups`, `…_writes` | Counters |
    /// | `keel_postgresql_tail_wait_seconds` | Counter of seconds; divide its rate by that of the groups |
    /// | `keel_postgresql_longest_tail_wait_seconds` | Gauge |
    /// | `keel_postgresql_standby_reads`, `…_standby_fallbacks` | Counters |
    /// | `keel_postgresql_waiting_calls` | Gauge |
    /// | `keel_postgresql_readers`, `…_refused_readers` | Gauges: connections that read, and those that are missing |
    /// | `keel_postgresql_oldest_transaction_seconds` | Gauge |
    /// | `keel_postgresql_oldest_snapshot_transactions` | Gauge |
    /// | `keel_postgresql_feed_lag_seconds` | Gauge, while the adapter follows changes |
    /// | `keel_postgresql_standby_lag_seconds`, `…_standby_lag_bytes` | Gauges by `standby` |
    ///
    /// All have the dimension `store`. ``metricsText(label:)`` has the same metrics.
    ///
    /// - Parameters:
    ///   - label: The name of the store.
    ///   - factory: The metrics factory; nil for swift-metrics' factory at the time of this call.
    ///   - interval: The pause between two reports.
    public func reportMetrics(
        label: String = "storage",
        to factory: (any MetricsFactory)? = nil,
        every interval: Duration = .seconds(10)
    ) async {
        var report = StatisticsReport(store: label, factory ?? MetricsSystem.factory)
        while !Task.isCancelled {
            report.record(await reportedStatistics())
            do { try await configuration.clock.sleep(for: interval) } catch { return }
        }
    }
}

struct StatisticsReport {
    private let store: String
    private let factory: any MetricsFactory
    private var last: [String: Double] = [:]

    init(store: String, _ factory: any MetricsFactory) {
        self.store = store
        self.factory = factory
    }

    /// Reports statistics; nil if the server could not be asked.
    mutating func record(_ statistics: PostgreSQLStorageAdapter.Statistics?) {
        let figures = [StatisticsFigure.isUp(statistics != nil)] + (statistics?.figures ?? [])
        for figure in figures {
            let label = "keel_postgresql_\(figure.name)"
            let dimensions = [("store", store)] + figure.standbys
            guard figure.isCounter else {
                Gauge(label: label, dimensions: dimensions, factory: factory).record(figure.value)
                continue
            }
            FloatingPointCounter(label: label, dimensions: dimensions, factory: factory)
                .increment(by: figure.value - (last[figure.name] ?? 0))
            last[figure.name] = figure.value
        }
    }
}
#endif
