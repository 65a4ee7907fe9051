import HTTPTypes
import KeelHTTP
import KeelTestKit
import RestaurantsData
import RestaurantsDomain
import Synchronization
import Testing

@Suite("Service calls and their log lines")
struct CallTests {
    private let gulls = ServiceJSON.restaurant("r-1", "Three Gulls")

    @Test("A busy service is asked again, and the log reports the pause and the reason")
    func retry() async throws {
        var policy = HTTPRetryPolicy(attempts: 2)
        policy.jitter = { 0 }
        let app = try Instance(
            ScriptedHTTPTransport([.status(.serviceUnavailable), .json(ServiceJSON.page(gulls))]),
            retry: policy
        )
        #expect(try await app.restaurants.search("gulls", limit: 5).map(\.id.text) == ["r-1"])
        #expect(
            app.log.all == [
                "GET /restaurants/search?… retried after 0 ms: status 503",
                "GET /restaurants/search?… answered with 200",
            ]
        )
    }

    @Test("A call that finally fails is logged in one line with its code")
    func failure() async throws {
        let app = try Instance()
        await #expect(throws: DomainError.self) { try await app.restaurants.refresh() }
        #expect(app.log.all == ["GET /restaurants?… failed: connectionRefused"])
    }

    @Test(
        "Concurrent identical calls share one exchange, and the log reports who joined",
        .timeLimit(.minutes(10))
    )
    func coalescing() async throws {
        let (clock, begun) = (TestClock(), CallCount())
        // The first exchange lasts until the clock is moved; any other ends immediately.
        let found = ServiceJSON.page(gulls)
        let transport = ScriptedHTTPTransport(
            [.json(found).delayed(by: .seconds(1), on: clock)],
            then: .json(found)
        )
        let app = try Instance(transport, observers: [begun])
        let calls = 9
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<calls {
                group.addTask {
                    try await app.restaurants.search("gulls", limit: 5).map(\.name).joined()
                }
            }
            await clock.waitForSleepers()
            try await waitUntil { begun.count >= calls }
            await clock.advance(by: .seconds(1))
            var names: [String] = []
            for try await name in group { names.append(name) }
            return names
        }
        #expect(names == Array(repeating: "Three Gulls", count: calls))
        // A call that began late may have made its own exchange; none did both or neither.
        let joined = app.log.all.filter {
            $0 == "GET /restaurants/search?… joined a call under way"
        }
        #expect(joined.count >= 1)
        #expect(joined.count + transport.calls.count == calls)
    }

    @Test("A restaurant requested twice at once is loaded once", .timeLimit(.minutes(10)))
    func sharedLoad() async throws {
        let clock = TestClock()
        let transport = ScriptedHTTPTransport([
            .json(gulls).delayed(by: .seconds(1), on: clock)
        ])
        let app = try Instance(transport)
        let id = try RestaurantID("r-1")
        async let first = app.restaurants.restaurant(id)
        async let second = app.restaurants.restaurant(id)
        await clock.waitForSleepers()
        await clock.advance(by: .seconds(1))
        let both = try await [first, second]
        #expect(both.map(\.name) == ["Three Gulls", "Three Gulls"])
        #expect(transport.calls.count == 1)
    }
}

/// Counts the started calls.
private final class CallCount: HTTPEventObserver {
    private let state = Mutex(0)

    var count: Int { state.withLock { $0 } }

    func observe(_ event: HTTPEvent) {
        guard case .started = event.kind else { return }
        state.withLock { $0 += 1 }
    }
}
