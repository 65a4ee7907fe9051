import Foundation
import HTTPTypes
import KeelCache
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCaching
import KeelTestKit
import KeelTestSupport
import Testing

/// An option that an app's layer reads.
private enum LaneKey: HTTPCallOptionKey { static var defaultValue: String { "none" } }

/// An option whose values cannot be compared.
private enum OpaqueKey: HTTPCallOptionKey {
    struct Value: Sendable {}
    static var defaultValue: Value { Value() }
}

@Suite("Coalescing above the cache", .timeLimit(.minutes(1)))
struct StackedSharingTests {
    private func client(
        _ bench: CacheBench,
        _ layer: CoalescingMiddleware = CoalescingMiddleware(),
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.retry = .never
        configuration.middleware = [layer]
        configuration.cacheResponses(in: bench.cache)
        change(&configuration)
        return NetworkClient(configuration, transport: bench.origin)
    }

    @Test("Cache results pass through, and the stored response comes first")
    func keepsNotes() async throws {
        let bench = CacheBench([CacheBench.text("[\"soup\"]"), CacheBench.text("[\"stew\"]")])
        let client = try client(bench)
        #expect(try await client.response(to: GetMenu()).get().cacheResult == .network)
        #expect(try await client.response(to: GetMenu()).get().cacheResult == .fresh)
        await bench.pass(61)
        var answers: [[String]] = []
        for try await answer in client.cachedThenFresh(GetMenu()) { answers.append(answer.value) }
        #expect(answers == [["soup"], ["stew"]])
    }

    private static let variants: [@Sendable (inout HTTPCallOptions) -> Void] = [
        { $0.cachePolicy = .reload },
        { $0.cachePolicy = .cacheElseNetwork },
        { $0.authentication = .optional },
        { $0.authentication = .none },
        { $0[LaneKey.self] = "fast" },
        { $0[OpaqueKey.self] = OpaqueKey.Value() },
    ]

    @Test("Calls with different options do not share a response", arguments: variants.indices)
    func separatesWishes(_ index: Int) async throws {
        let gate = Gate()
        let bench = CacheBench(then: Self.held(gate))
        let layer = CoalescingMiddleware()
        let client = try client(bench, layer) { $0.authorize(with: StaticToken("token")) }
        var options = HTTPCallOptions()
        Self.variants[index](&options)
        let first = Task { try await client.response(to: GetMenu()).get() }
        try await waitUntil { gate.begunCount == 1 }
        let second = Task { [options] in
            try await client.response(to: GetMenu(), options: options).get()
        }
        try await waitUntil { gate.begunCount == 2 }
        gate.open()
        _ = try await (first.value, second.value)
        #expect(bench.requestCount == 2)
    }

    @Test("Explicit default options share a response with unset ones")
    func joinsDefaults() async throws {
        let gate = Gate()
        let bench = CacheBench(then: Self.held(gate))
        let layer = CoalescingMiddleware()
        let client = try client(bench, layer)
        var options = HTTPCallOptions()
        options.cachePolicy = .standard
        options.authentication = .required
        options[LaneKey.self] = "none"
        options.pins = nil
        options.retry = .never
        let calls = [HTTPCallOptions(), options].map { options in
            Task { try await client.response(to: GetMenu(), options: options).get() }
        }
        try await waitUntil { layer.waiterCount == 2 }
        gate.open()
        for call in calls { _ = try await call.value }
        #expect(bench.requestCount == 1)
    }

    @Test("A cache-only call does not share its result with other calls")
    func keepsProbesApart() async throws {
        let gate = Gate()
        let tier = HoldingTier(gate)
        let bench = CacheBench([CacheBench.text("[\"soup\"]")], tier: tier)
        let client = try client(bench)
        var options = HTTPCallOptions()
        options.cachePolicy = .cacheOnly
        let probe = Task { [options] in
            try await client.response(to: GetMenu(), options: options).get()
        }
        try await waitUntil { gate.begunCount == 1 }
        let call = Task { try await client.response(to: GetMenu()).get() }
        try await waitUntil { gate.begunCount == 2 }
        gate.open()
        #expect(try await probe.value.cacheResult == .missing)
        #expect(try await call.value.body == Array("[\"soup\"]".utf8))
    }

    private static func held(_ gate: Gate) -> CacheBench.Answer {
        CacheBench.Answer { _ async throws(TransportError) in
            guard (try? await gate.pass()) != nil else { throw TransportError(.cancelled) }
            return HTTPReply(head: HTTPResponse(status: .ok), body: .chunks([Array("[]".utf8)]))
        }
    }
}

/// A tier whose reads wait at a gate, and find nothing.
private final class HoldingTier: CacheTier {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func read(_ key: [UInt8]) async throws(CacheError) -> CacheRecord? {
        _ = try? await gate.pass()
        return nil
    }

    func write(_ records: [CacheRecord]) async throws(CacheError) {}
    func remove(_ selection: CacheSelection) async throws(CacheError) {}
    func flush() async throws(CacheError) {}
    func makeFile() async throws(CacheError) -> (any CacheFileWriter)? { nil }
    func usage() async throws(CacheError) -> CacheTierUsage { CacheTierUsage() }
}
