import AsyncHTTPClient
import KeelHTTP
import NIOCore
import Synchronization

extension HTTPGroup {
    private struct GetSlow: Endpoint {
        typealias Response = EmptyResponse
        var path: EndpointPath { "/slow/keel" }
    }

    /// Measures hedging over real connections to a server that takes 5 ms, and 100 ms for 1 % of requests.
    static func hedgedSockets(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let count = options.isQuick ? 40 : 1_200
        let client = Lazily {
            try await pair.value().client { $0.attemptMiddleware = [HedgingMiddleware()] }
        }
        return Measure(
            name: "hedging over sockets, p99 / AsyncHTTPClient",
            unit: "ms",
            target: .info,
            maximumRounds: 7,
            keel: {
                let client = try await client.value()
                return try await p99(count) {
                    _ = try await client.response(to: GetSlow()).get()
                }
            },
            peer: {
                let pair = try await pair.value()
                return try await p99(count) {
                    let request = HTTPClientRequest(url: "\(pair.address)/slow/peer")
                    let response = try await pair.peer
                        .execute(request, deadline: .now() + .seconds(60))
                    _ = try await response.body.collect(upTo: 1 << 20)
                }
            }
        )
    }

    /// Makes calls, four at a time, and returns the 99th percentile of their durations.
    @concurrent
    private static func p99(
        _ count: Int,
        _ call: @escaping @Sendable () async throws -> Void
    ) async throws -> Double {
        let times = Mutex<[Double]>([])
        _ = try await time(count, at: 4) {
            let start = ContinuousClock.now
            try await call()
            let time = start.duration(to: .now) / .milliseconds(1)
            times.withLock { $0.append(time) }
        }
        return times.withLock { $0.p99 }
    }
}
