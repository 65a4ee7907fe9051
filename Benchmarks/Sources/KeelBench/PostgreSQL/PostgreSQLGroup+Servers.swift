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
}
#endif
