import Foundation

/// The HTTP client, compared with AsyncHTTPClient and URLSession; Documentation/Benchmarks.md has the targets.
enum HTTPGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let pair = Lazily { try HTTPPair() }
        return [
            gets("small GET, one by one / AsyncHTTPClient", .atMost(1.10), pair, options, at: 1),
            gets("small GET, 64 at once / AsyncHTTPClient", .atMost(1.15), pair, options, at: 64),
            json(pair, options),
            urlSession(pair, options),
            instructions(pair, options),
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
            unit: "µs",
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

    private static func json(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let count = options.scaled(2_000)
        return Measure(
            name: "GET and JSON / AsyncHTTPClient and JSONDecoder",
            unit: "µs",
            target: .atMost(1.08),
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
