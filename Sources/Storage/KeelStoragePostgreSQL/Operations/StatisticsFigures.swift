#if PostgreSQL
internal import KeelCore
internal import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// Returns ``statistics()`` in Prometheus's text format, for an endpoint that is scraped.
    ///
    /// `keel_postgresql_up` is 0, without other figures, while the statistics fail or take more than five seconds.
    ///
    /// - Parameter label: The name of the store, the label `store` of each metric.
    /// - Returns: The text.
    public func metricsText(label: String = "storage") async -> String {
        await Self.metricsText([(label, self)])
    }

    /// Returns the statistics of several stores as one text, like ``metricsText(label:)``.
    ///
    /// - Parameter stores: The adapters and the labels of their stores.
    /// - Returns: The text, which has the lines of a metric together.
    public static func metricsText(
        _ stores: [(label: String, adapter: PostgreSQLStorageAdapter)]
    ) async -> String {
        var names: [String] = []
        var texts: [String: String] = [:]
        // Side by side, because all stores may be at one server, which is silent.
        let reports = await stores.concurrentMap(limit: stores.count) { store in
            (label: store.label, statistics: await store.adapter.reportedStatistics())
        }
        for (label, statistics) in reports {
            for figure in [StatisticsFigure.isUp(statistics != nil)] + (statistics?.figures ?? []) {
                let name = "keel_postgresql_\(figure.name)"
                if texts[name] == nil {
                    names.append(name)
                    texts[name] =
                        "# HELP \(name) \(figure.help)\n"
                        + "# TYPE \(name) \(figure.isCounter ? "counter" : "gauge")\n"
                }
                let labels = [("store", label)] + figure.standbys
                let pairs = labels.map { #"\#($0)="\#(escaped($1))""# }.joined(separator: ",")
                texts[name]? += "\(name){\(pairs)} \(figure.value)\n"
            }
        }
        return names.map { texts[$0] ?? "" }.joined()
    }

    private static func escaped(_ label: String) -> String {
        label.replacing(#"\"#, with: #"\\"#).replacing("\"", with: #"\""#)
            .replacing("\n", with: #"\n"#)
    }
}

struct StatisticsFigure {
    /// The name, after `keel_postgresql_`.
    let name: String
    let help: String
    var isCounter = false
    let value: Double
    /// The label of the standby, if the figure is of one.
    var standbys: [(String, String)] = []

    static func isUp(_ isUp: Bool) -> Self {
        Self(name: "up", help: "Whether the server can be asked.", value: isUp ? 1 : 0)
    }
}

extension PostgreSQLStorageAdapter.Statistics {
    /// The figures, those with the same name next to each other.
    var figures: [StatisticsFigure] {
        func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
        func counter(_ name: String, _ help: String, _ value: Double) -> StatisticsFigure {
            StatisticsFigure(name: name, help: help, isCounter: true, value: value)
        }
        func gauge(_ name: String, _ help: String, _ value: Double) -> StatisticsFigure {
            StatisticsFigure(name: name, help: help, value: value)
        }
        var figures = [
            counter("groups", "Groups of commits that were written.", Double(groupCount)),
            counter("failed_groups", "Groups that failed as a whole.", Double(failedGroupCount)),
            counter("writes", "Writes in groups.", Double(writeCount)),
            counter(
                "tail_wait_seconds",
                "Time in which groups waited for the row of the store.",
                seconds(tailWait)
            ),
            gauge(
                "longest_tail_wait_seconds",
                "The longest such time of the last minute or two.",
                seconds(longestTailWait)
            ),
            counter(
                "standby_reads",
                "Reads that allowed staleness and that a standby answered.",
                Double(standbyReadCount)
            ),
            counter(
                "standby_fallbacks",
                "Reads that a standby might have answered, but the primary did.",
                Double(standbyFallbackCount)
            ),
            gauge("waiting_calls", "Calls that wait for their turn.", Double(waitingCallCount)),
            gauge("readers", "Connections that read.", Double(readerCount)),
            gauge(
                "refused_readers",
                "Connections that the server refused, which are missing for a while.",
                Double(refusedReaderCount)
            ),
            gauge(
                "oldest_transaction_seconds",
                "The age of the oldest transaction of the database.",
                seconds(oldestTransaction ?? .zero)
            ),
            gauge(
                "oldest_snapshot_transactions",
                "The age of the oldest snapshot, also of standbys and slots, in transactions.",
                Double(oldestSnapshotTransactionCount ?? 0)
            ),
        ]
        if let feedLag {
            let help = "The age of the oldest change that this process has not noticed."
            figures.append(gauge("feed_lag_seconds", help, seconds(feedLag)))
        }
        figures += standbyFigures("lag_seconds", "How far a standby is behind.") {
            $0.lag.map { seconds($0) }
        }
        figures += standbyFigures("lag_bytes", "The log that a standby has not replayed.") {
            $0.lagBytes.map { Double($0) }
        }
        return figures
    }

    /// Returns a figure for each name of a standby.
    ///
    /// By default, all standbys have the same name. Their figure is then that of the one that is farthest behind.
    private func standbyFigures(
        _ name: String,
        _ help: String,
        _ value: (Standby) -> Double?
    ) -> [StatisticsFigure] {
        let known = standbys.compactMap { standby in value(standby).map { (standby.name, $0) } }
        let values = Dictionary(known, uniquingKeysWith: { max($0, $1) })
        return values.sorted { $0.key < $1.key }.map { standby, value in
            StatisticsFigure(
                name: "standby_\(name)",
                help: help,
                value: value,
                standbys: [("standby", standby)]
            )
        }
    }
}
#endif
