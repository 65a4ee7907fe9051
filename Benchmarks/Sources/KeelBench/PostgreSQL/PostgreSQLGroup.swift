#if PostgreSQL
import Foundation
import KeelStorage
import KeelStoragePostgreSQL

/// Documents in PostgreSQL, compared with C on libpq; Documentation/Benchmarks.md has the targets.
enum PostgreSQLGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let bench = DatabaseBench(options)
        let count = options.scaled(100_000)
        let plain = Lazily { try await DatabasePair("plain", count: count, on: bench) }
        let indexed = Lazily {
            try await DatabasePair("indexed", count: count, schema: DatabasePair.indexes, on: bench)
        }
        var measures = writing(plain, indexed, options)
        measures += reading(plain, options) + listening(plain, options)
        measures += growth(bench, options)
        return measures + servers(plain, options) + heardAtServers(bench, options)
    }

    /// Measures calls of several tasks, in microseconds of one call.
    static func time(
        _ count: Int,
        tasks: Int,
        _ call: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingDiscardingTaskGroup { group in
            for task in 0..<tasks {
                group.addTask { @concurrent in
                    for number in stride(from: task, to: count, by: tasks) {
                        try await call(number)
                    }
                }
            }
        }
        return start.duration(to: .now).microseconds / Double(count)
    }

    // MARK: Growth

    private static func growth(_ bench: DatabaseBench, _ options: Options) -> [Measure] {
        let large = bench.sized("large", options.scaled(1_000_000))
        let small = bench.sized("small", options.scaled(10_000))
        let top = Measure(
            name: "first 20 of 50,000 in 1,000,000 / the same SQL",
            target: .atMost(1.3),
            keel: {
                let store = try await large.value().store
                return try await Timing.perCall(options.scaled(2_000)) { number in
                    let found = try await store.client.queryDocuments(
                        DocumentQuery("places")
                            .where(.equal("district", .string(Place.district(number))))
                            .order(by: "score", .descending).limit(to: 20)
                    )
                    guard found.count == 20 else { throw Flaw("a query found too little") }
                }
            },
            peer: {
                let url = try await large.value().url
                return try await bench.peer.value().run(url, ["top", "\(options.scaled(2_000))"])
            }
        )
        return [top]
            + SizedStore.growth(
                "1,000,000 / 10,000 documents",
                Lazily { try await large.value().store },
                Lazily { try await small.value().store },
                options
            )
    }
}
#else
/// The measures of PostgreSQL, which this program was built without.
enum PostgreSQLGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let absent: Measure.Side = {
            throw NotRun("keel-bench was built without the trait PostgreSQL")
        }
        return [
            Measure(name: "documents", target: .info, keel: absent, peer: absent)
        ]
    }
}
#endif
