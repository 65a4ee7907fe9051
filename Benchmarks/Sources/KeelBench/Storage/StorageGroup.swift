import Foundation
import KeelStorage
import KeelStorageSQLite

/// Document storage on SQLite, compared with GRDB; Documentation/Benchmarks.md has the targets.
enum StorageGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let folder = options.folder.appending(
            path: "keel-bench-\(ProcessInfo.processInfo.processIdentifier)"
        )
        let count = options.scaled(100_000)
        func pair(
            _ indexing: StorePair.Indexing,
            _ count: Int,
            body: PeerStore.Body = .cbor
        ) -> Lazily<StorePair> {
            Lazily { try await StorePair(indexing, count: count, in: folder, body: body) }
        }
        let composite = pair(.composite, count)
        let two = pair(.two, count)
        let livePair = pair(.composite, count)
        let listenedPair = pair(.two, count)
        return [
            get(composite, options),
            getJSON(pair(.composite, count, body: .json), options),
            set(
                "set, one of two indexed fields changed",
                two,
                .atMost(1.3),
                options,
                scoreChanges: true
            ),
            set(
                "set, no indexed field changed",
                pair(.two, count),
                .atMost(1.3),
                options,
                scoreChanges: false
            ),
            history(
                Lazily {
                    try await StorePair(.two, count: count, in: folder, history: .seconds(3600))
                },
                pair(.two, count),
                options
            ),
            bulk(pair(.two, count), options),
            arrayUnion(composite, options),
            query(composite, options),
            queryOfSameTables(composite, options),
            growth(composite, small: pair(.composite, options.scaled(1_000)), options),
            live(livePair, options, keepsSnapshot: false),
            live(livePair, options, keepsSnapshot: true),
            listeners(listenedPair, options, byNumber: false),
            listeners(listenedPair, options, byNumber: true),
            open(pair(.composite, count), options),
        ] + writesOfSameTables(pair(.two, count), pair(.two, count), options)
            + growth(options, in: folder)
    }

    // MARK: Reading

    private static func get(_ pair: Lazily<StorePair>, _ options: Options) -> Measure {
        Measure(
            name: "get, decoded / row, same decoder",
            target: .atMost(1.2),
            keel: { try await keelGets(pair, options) },
            peer: {
                let pair = try await pair.value()
                let ids = ids(options.scaled(20_000), of: pair)
                return try Timing.perCall(ids.count) { number in
                    _ = try PeerGet.withDocumentDecoder(ids[number], in: pair.peer)
                }
            }
        )
    }

    private static func getJSON(_ pair: Lazily<StorePair>, _ options: Options) -> Measure {
        Measure(
            name: "get, decoded / row, JSONDecoder",
            target: .atMost(1),
            keel: { try await keelGets(pair, options) },
            peer: {
                let pair = try await pair.value()
                let ids = ids(options.scaled(20_000), of: pair)
                let decoder = JSONDecoder()
                return try Timing.perCall(ids.count) { number in
                    _ = try PeerGet.withJSONDecoder(ids[number], in: pair.peer, decoder)
                }
            }
        )
    }

    @concurrent
    private static func keelGets(
        _ pair: Lazily<StorePair>,
        _ options: Options
    ) async throws -> Double {
        let pair = try await pair.value()
        let paths = ids(options.scaled(20_000), of: pair).map { DocumentPath("places", $0) }
        return try await Timing.perCall(paths.count) { number in
            _ = try await pair.client.getDocument(paths[number], as: Place.self)
        }
    }

    /// Returns existing ids in random order.
    private static func ids(_ count: Int, of pair: StorePair) -> [String] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in Place.id(Int.random(in: 0..<pair.count, using: &generator)) }
    }

    private static func query(_ pair: Lazily<StorePair>, _ options: Options) -> Measure {
        Measure(
            name: "query, equality and order, first 20 / SQL",
            target: .atMost(1.2),
            keel: { try await keelQueries(pair, options) },
            peer: {
                let pair = try await pair.value()
                return try Timing.perCall(options.scaled(2_000)) { number in
                    let places = try PeerQuery.run(
                        district: Place.district(number),
                        limit: 20,
                        in: pair.peer
                    )
                    try check(places, options)
                }
            }
        )
    }

    private static func queryOfSameTables(
        _ pair: Lazily<StorePair>,
        _ options: Options
    ) -> Measure {
        let tables = Lazily {
            let pair = try await pair.value()
            return try PeerQuery.KeelTables(pair.keelFile.path, places: min(pair.count, 10))
        }
        return Measure(
            name: "the same query / SQL over the same tables",
            target: .atMost(1.2),
            keel: { try await keelQueries(pair, options) },
            peer: {
                let tables = try await tables.value()
                return try Timing.perCall(options.scaled(2_000)) { number in
                    let places = try tables.run(district: Place.district(number), limit: 20)
                    try check(places, options)
                }
            }
        )
    }

    private static func growth(
        _ pair: Lazily<StorePair>,
        small: Lazily<StorePair>,
        _ options: Options
    ) -> Measure {
        Measure(
            name: "the same query, 100k / 1k documents",
            target: .atMost(1.5),
            keel: { try await keelQueries(pair, options) },
            peer: { try await keelQueries(small, options) }
        )
    }

    @concurrent
    private static func keelQueries(
        _ pair: Lazily<StorePair>,
        _ options: Options
    ) async throws -> Double {
        let places = try await pair.value().places
        return try await Timing.perCall(options.scaled(2_000)) { number in
            let district = Place.district(number)
            let found = try await places.query {
                $0.where(.equal("district", .string(district)))
                    .order(by: "score", .descending).limit(to: 20)
            }
            try check(found, options)
        }
    }

    private static func check(_ places: [Place], _ options: Options) throws {
        guard options.isQuick || places.count == 20 else { throw Flaw("a query found too little") }
    }

    private static func open(_ pair: Lazily<StorePair>, _ options: Options) -> Measure {
        let closed = Lazily {
            let pair = try await pair.value()
            try pair.close()
            return pair
        }
        return Measure(
            name: "open, first document read",
            target: .atMost(3),
            keel: {
                let pair = try await closed.value()
                var figures: [Double] = []
                for number in 0..<options.scaled(20) {
                    let path = DocumentPath("places", Place.id(number))
                    let start = ContinuousClock.now
                    let adapter = try SQLiteStorageAdapter(at: .file(pair.keelFile))
                    let client = StorageClient(adapter, schema: pair.indexing.schema)
                    _ = try await client.getDocument(path)
                    figures.append(start.duration(to: .now).microseconds)
                    try adapter.close()
                }
                return figures.median
            },
            peer: {
                let pair = try await closed.value()
                return try (0..<options.scaled(20)).map { number in
                    try PeerOpen.run(pair.peerFile.path, id: Place.id(number))
                }.median
            }
        )
    }
}
