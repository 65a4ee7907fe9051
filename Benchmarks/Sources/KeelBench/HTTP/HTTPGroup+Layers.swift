import AsyncHTTPClient
import Foundation
import KeelAsyncHTTPClient
import KeelCache
import KeelHTTP
import KeelHTTPCaching

extension HTTPGroup {
    /// Measures the creation of a transport and a client, without their shutdown.
    static func setUp(_ options: Options) -> Measure {
        let count = options.scaled(200)
        return Measure(
            name: "set-up of a client / HTTPClient",
            target: .info,
            keel: {
                guard let address = URL(string: "http://127.0.0.1:1") else {
                    throw Flaw("No address.")
                }
                let (clients, elapsed) = timed(count) {
                    NetworkClient(baseURL: address, transport: AsyncHTTPClientTransport())
                }
                for client in clients { await client.transport.shutdown() }
                return elapsed
            },
            peer: {
                let (clients, elapsed) = timed(count) { HTTPClient() }
                for client in clients { try await client.shutdown() }
                return elapsed
            }
        )
    }

    private static func timed<Value>(_ count: Int, _ make: () -> Value) -> ([Value], Double) {
        var values: [Value] = []
        let elapsed = Timing.perCall(count) { _ in values.append(make()) }
        return (values, elapsed)
    }

    /// Measures a call answered by the HTTP cache; the peer's client has a layer with a memory cache instead.
    static func cacheHit(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let count = options.scaled(5_000)
        return Measure(
            name: "HTTP cache hit / memory cache in a layer",
            target: .atMost(3),
            keel: { try await keelHit(count, pair.value()) },
            peer: { try await peerHit(count, pair.value()) }
        )
    }

    @concurrent
    static func keelHit(_ count: Int, _ pair: HTTPPair) async throws -> Double {
        let cache = HTTPCache(tier: InMemoryCacheTier())
        let client = pair.client { $0.cacheResponses(in: cache) }
        _ = try await client.response(to: HTTPPair.GetFresh()).get()
        return try await Timing.perCall(count) { _ in
            let response = try await client.response(to: HTTPPair.GetFresh()).get()
            guard response.cacheResult == .fresh, response.body.count == 256 else {
                throw Flaw("Keel's response is not from the cache.")
            }
        }
    }

    @concurrent
    static func peerHit(_ count: Int, _ pair: HTTPPair) async throws -> Double {
        let cache = Cache<String, NetworkResponse>(CacheConfiguration(limits: .count(100)))
        let client = pair.client { $0.hopMiddleware = [PeerMemoryLayer(cache: cache)] }
        _ = try await client.response(to: HTTPPair.GetFresh()).get()
        return try await Timing.perCall(count) { _ in
            let response = try await client.response(to: HTTPPair.GetFresh()).get()
            guard response.body.count == 256 else { throw Flaw("The peer got another body.") }
        }
    }

    /// Measures the time until 64 callers have the response of a server that takes 20 ms; the peer is one call.
    static func coalesced(_ pair: Lazily<HTTPPair>, _ options: Options) -> Measure {
        let count = options.scaled(20)
        let sharing = Lazily {
            try await pair.value().client { $0.middleware = [CoalescingMiddleware()] }
        }
        @Sendable @concurrent
        func perRound(_ callers: Int, _ client: NetworkClient) async throws -> Double {
            let round = try await Timing.perCall(count) { _ in
                _ = try await time(callers, at: callers) {
                    _ = try await client.response(to: HTTPPair.GetAfter(milliseconds: 20)).get()
                }
            }
            return round / 1_000
        }
        return Measure(
            name: "64 coalesced GETs of 20 ms / one GET",
            unit: "ms",
            target: .atMost(1.1),
            keel: { try await perRound(64, sharing.value()) },
            peer: { try await perRound(1, pair.value().client) }
        )
    }
}
