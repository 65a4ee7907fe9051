import Foundation

/// The HTTP client, compared with AsyncHTTPClient and URLSession; Documentation/Benchmarks.md has the targets.
enum HTTPGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let pair = Lazily { try HTTPPair() }
        func instructions(_ name: String, _ target: Target, _ kind: ChildWork.Kind) -> Measure {
            Self.instructions(name, target, kind, pair, options)
        }
        return [
            gets("small GET, one by one / AsyncHTTPClient", .atMost(1.10), pair, options, at: 1),
            gets("small GET, 64 at once / AsyncHTTPClient", .atMost(1.15), pair, options, at: 64),
            typical(pair, options),
            processes(
                "64 GETs at once, two processes / AsyncHTTPClient",
                .atMost(1.10),
                .typical,
                pair,
                options
            ),
            json(pair, options),
            urlSession(pair, options),
            instructions("small GET, instructions / AsyncHTTPClient", .atMost(1.12), .get),
            instructions("64 GETs, instructions / AsyncHTTPClient", .atMost(1.10), .typical),
            instructions("GET and JSON, instructions / AsyncHTTPClient", .atMost(1.05), .json),
            instructions("own empty layer, instructions / none", .atMost(1.02), .layered),
            setUp(options),
            cacheHit(pair, options),
            instructions("HTTP cache hit, instructions / the same", .atMost(3), .cached),
            coalesced(pair, options),
            file(pair, options, syncs: true),
            file(pair, options, syncs: false),
            memory(pair, options, .down),
            memory(pair, options, .up),
            deadLoad(options),
            deadTime(options),
            hedgedLatency(options),
            hedgedLoad(options),
            hedgedSockets(pair, options),
            eventParsing(options),
            webSocketEcho(pair, options),
            echo("WebSocket, one by one / SwiftNIO", .atMost(1.0), pair, options, inFlight: 1),
            instructions("WebSocket, one by one, instructions / SwiftNIO", .info, .echo),
            echo("WebSocket, 64 in flight / SwiftNIO", .atMost(1.2), pair, options, inFlight: 64),
            instructions("WebSocket, 64 in flight, instructions / SwiftNIO", .info, .echoes),
        ]
    }

    /// Returns the microseconds per call with a number of concurrent calls.
    @concurrent
    static func time(
        _ count: Int,
        at once: Int,
        _ call: @escaping @Sendable () async throws -> Void
    ) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingDiscardingTaskGroup { group in
            for _ in 0..<once {
                group.addTask {
                    for _ in 0..<(count / once) { try await call() }
                }
            }
        }
        return start.duration(to: .now).microseconds / Double(count / once * once)
    }

    private static func gets(
        _ name: String,
        _ target: Target,
        _ pair: Lazily<HTTPPair>,
        _ options: Options,
        at once: Int
    ) -> Measure {
        let count = options.scaled(once == 1 ? 2_000 : 6_400)
        return Measure(
            name: name,
            target: target,
            keel: {
                let pair = try await pair.value()
                return try await time(max(count, once), at: once) { try await pair.keelGet() }
            },
            peer: {
                let pair = try await pair.value()
                return try await time(max(count, once), at: once) { try await pair.peerGet() }
            }
        )
    }

    private static func typical(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let count = max(64, options.scaled(6_400))
        return Measure(
            name: "64 GETs at once, app's fields / AsyncHTTPClient",
            target: .atMost(1.10),
            keel: {
                let pair = try await pair.value()
                return try await time(count, at: 64) { try await pair.keelGetTypical() }
            },
            peer: {
                let pair = try await pair.value()
                return try await time(count, at: 64) { try await pair.peerGetTypical() }
            }
        )
    }

    private static func json(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let count = options.scaled(2_000)
        return Measure(
            name: "GET and JSON / AsyncHTTPClient and JSONDecoder",
            target: .atMost(1.05),
            keel: {
                let pair = try await pair.value()
                return try await time(count, at: 1) { try await pair.keelGetJSON() }
            },
            peer: {
                let pair = try await pair.value()
                return try await time(count, at: 1) { try await pair.peerGetJSON() }
            }
        )
    }
}
