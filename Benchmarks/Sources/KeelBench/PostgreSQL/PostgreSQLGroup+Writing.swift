#if PostgreSQL
import Foundation
import KeelStorage

extension PostgreSQLGroup {
    static func writing(
        _ plain: Lazily<DatabasePair>,
        _ indexed: Lazily<DatabasePair>,
        _ options: Options
    ) -> [Measure] {
        [
            set("set, 32 tasks / 32 connections", .atLeast(2), plain, "plain", 16_000, options),
            set(
                "set with two indexes, 32 tasks / 32 connections",
                .atLeast(2),
                indexed,
                "indexed",
                16_000,
                options
            ),
            set(
                "set, 32 tasks / NOTIFY in each transaction",
                .atLeast(8),
                plain,
                "notify",
                4_000,
                options
            ),
            groups(plain, options),
            save("saveAll, per document", .keelAtMost(40), plain, options),
            save("saveAll, per document / 32 connections", .atLeast(4), plain, options),
            oneByOne(plain, options),
        ]
    }

    /// Compares commits of 32 tasks with as many connections, each of which commits its own documents.
    private static func set(
        _ name: String,
        _ target: Target,
        _ pair: Lazily<DatabasePair>,
        _ variant: String,
        _ peerCount: Int,
        _ options: Options
    ) -> Measure {
        Measure(
            name: name,
            target: target,
            keel: { try await sets(options.scaled(32_000), tasks: 32, in: pair) },
            peer: {
                try await pair.value().peer(["set", "32", "\(options.scaled(peerCount))", variant])
            }
        )
    }

    @concurrent
    static func sets(_ count: Int, tasks: Int, in pair: Lazily<DatabasePair>) async throws -> Double
    {
        let pair = try await pair.value()
        let writes = try pair.writes(count)
        return try await time(count, tasks: tasks) { number in
            try await pair.client.commit([writes[number]])
        }
    }

    /// Compares the groups of 32 tasks with their statements alone, which the peer fills without computing anything.
    ///
    /// A group has 31 commits, because one task begins the next group.
    private static func groups(_ pair: Lazily<DatabasePair>, _ options: Options) -> Measure {
        Measure(
            name: "set, 32 tasks / the same groups",
            target: .info,
            keel: { try await sets(options.scaled(32_000), tasks: 32, in: pair) },
            peer: { try await pair.value().peer(["groups", "31", "\(options.scaled(32_000))"]) }
        )
    }

    /// Compares one task with the statements that its commits send, in the same two round trips.
    private static func oneByOne(_ pair: Lazily<DatabasePair>, _ options: Options) -> Measure {
        let count = options.scaled(3_000)
        return Measure(
            name: "set, one task / the same round trips",
            target: .atMost(1.3),
            keel: { try await sets(count, tasks: 1, in: pair) },
            peer: { try await pair.value().peer(["trips", "\(count)"]) }
        )
    }

    /// Measures new documents, which the peer inserts one by one on each of 32 connections.
    private static func save(
        _ name: String,
        _ target: Target,
        _ pair: Lazily<DatabasePair>,
        _ options: Options
    ) -> Measure {
        let count = options.scaled(25_000)
        return Measure(
            name: name,
            target: target,
            keel: {
                let pair = try await pair.value()
                let first = Int.random(in: 1_000_000_000..<2_000_000_000)
                let places = (first..<first + count).map(Place.init)
                let start = ContinuousClock.now
                try await pair.places.saveAll(places)
                return start.duration(to: .now).microseconds / Double(count)
            },
            peer: { try await pair.value().peer(["insert", "32", "\(options.scaled(10_000))"]) }
        )
    }
}
#endif
