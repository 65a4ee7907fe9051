#if PostgreSQL
import Foundation

extension PostgreSQLGroup {
    /// Measures whether servers of one store wait for each other.
    ///
    /// Two processors cannot run several servers and a database at full speed. So each server gets a fifth of one, and
    /// the database has the rest: then the servers limit the throughput, until the line of commits does.
    static func servers(_ pair: Lazily<DatabasePair>, _ options: Options) -> [Measure] {
        let duration = options.isQuick ? Duration.milliseconds(200) : .seconds(4)
        func measure(_ servers: Int, _ target: Target) -> Measure {
            Measure(
                name: "\(servers) servers / one, a fifth of a core each",
                unit: "writes/s",
                target: target,
                maximumRounds: 5,
                keel: {
                    try await HeldWriters(servers, on: try await pair.value()).throughput(duration)
                },
                peer: { try await HeldWriters(1, on: try await pair.value()).throughput(duration) }
            )
        }
        return [
            measure(2, .partAtLeast(1.7)),
            measure(3, .partAtLeast(2.1)),
            measure(4, .partAtLeast(2.1)),
        ]
    }

    // MARK: Listening

    /// Measures the time from a commit at one `keel serve` to the snapshot of a listener at another one.
    ///
    /// The servers are processes, which share nothing but the database. The peer listens where it commits.
    static func heardAtServers(_ bench: DatabaseBench, _ options: Options) -> [Measure] {
        let count = options.isQuick ? 10 : 500
        let two = Lazily { try await listener("two_servers", 2, on: bench, options) }
        let one = Lazily { try await listener("one_server", 1, on: bench, options) }
        func measure(_ name: String, _ quantile: Double, _ target: Target) -> Measure {
            Measure(
                name: "commit heard at another keel serve, \(name)",
                unit: "ms",
                target: target,
                keel: { try await two.value().times(of: count).quantile(quantile) / 1_000 },
                peer: { try await one.value().times(of: count).quantile(quantile) / 1_000 }
            )
        }
        return [measure("p50", 0.5, .info), measure("p99", 0.99, .keelAtMost(10))]
    }

    /// Starts one or two servers of a new store.
    ///
    /// - Returns: A client that listens at the first server and commits at the last one.
    /// - Throws: An error if a server does not start, or the listener fails.
    @concurrent
    private static func listener(
        _ database: String,
        _ servers: Int,
        on bench: DatabaseBench,
        _ options: Options
    ) async throws -> ListeningClient {
        let url = try await bench.createDatabase(database)
        // The first server creates the tables before the second one starts.
        let first = try await FirestoreServer.keel(url)
        let last = try await servers > 1 ? FirestoreServer.keel(url) : first
        return try await ListeningClient(
            first,
            .init(targets: 1, documentsPerTarget: options.isQuick ? 100 : 1_000),
            committingAt: last
        )
    }
}
#endif
