import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Testing

@Suite("Retry budgets and settings of single calls", .timeLimit(.minutes(1)))
struct RetryBudgetTests: RetrySuite {
    typealias Answer = ScriptedHTTPTransport.Answer

    let clock = TestClock()

    // MARK: Options of single calls, budgets

    @Test("A call can ask for more or fewer attempts than its client")
    func overridesPerCall() async throws {
        struct Eager: ServiceEndpoint {
            var policy: HTTPRetryPolicy
            var path: EndpointPath { "/x" }
            var options: HTTPCallOptions {
                var options = HTTPCallOptions()
                options.retry = policy
                return options
            }
        }
        for (policy, count) in [(HTTPRetryPolicy.never, 1), (.attempts(5), 5)] {
            let transport = ScriptedHTTPTransport(then: .status(.badGateway))
            let client = try client(transport)
            _ = await run { await client.response(to: Eager(policy: policy)) }
            #expect(transport.calls.count == count)
        }
    }

    @Test("A dead server gets at most a tenth more load, and the errors state the reason")
    func boundsLoad() async throws {
        let transport = ScriptedHTTPTransport(then: .failure(TransportError(.connectionRefused)))
        let client = try client(transport) { $0.retry.jitter = { 0 } }
        var last: TransportError?
        for _ in 1...1000 {
            guard case .failure(let error) = await client.response(to: GetRestaurant(id: "1"))
            else { continue }
            last = error
        }
        #expect(transport.calls.count == 1035)
        #expect(last?.retryRefusal == .budgetExhausted)
        #expect(last?.attempts.count == 1)
    }

    @Test("Two clients share a budget, origins do not, and successes refill it")
    func sharesBudgets() async throws {
        var limits = HTTPRetryBudget.Limits()
        limits.tokens = 28
        let budget = HTTPRetryBudget(limits, clock: clock)
        let dead = ScriptedHTTPTransport(then: .failure(TransportError(.connectionRefused)))
        let one = try client(dead) {
            $0.retry.budget = .shared(budget)
            $0.retry.jitter = { 0 }
        }
        let other = NetworkClient(one.configuration, transport: dead)
        _ = await one.response(to: GetRestaurant(id: "1"))
        #expect(dead.calls.count == 3)
        _ = await other.response(to: GetRestaurant(id: "1"))
        #expect(dead.calls.count == 4)
        var elsewhere = one.configuration
        elsewhere.baseURL = try #require(URL(string: "https://other.example.com"))
        _ = await NetworkClient(elsewhere, transport: dead).response(to: GetRestaurant(id: "1"))
        #expect(dead.calls.count == 7)
        let fine = ScriptedHTTPTransport(then: .status(.ok))
        let healthy = NetworkClient(one.configuration, transport: fine)
        for _ in 1...14 { _ = await healthy.response(to: GetRestaurant(id: "1")) }
        let origin = try #require(HTTPOrigin(call(.get).head))
        #expect(budget.tokens(for: origin) == 14)
        let flaky = ScriptedHTTPTransport([.status(.badGateway)], then: .status(.ok))
        _ = await NetworkClient(one.configuration, transport: flaky)
            .response(to: GetRestaurant(id: "1"))
        #expect(budget.tokens(for: origin) == 14)
    }

    @Test("At most a tenth of the requests are retries, however full the budget is")
    func boundsRatio() async throws {
        var limits = HTTPRetryBudget.Limits()
        limits.tokens = 1_000_000
        limits.reserve = 0
        let clock = clock
        let budget = HTTPRetryBudget(limits, clock: clock)
        let dead = ScriptedHTTPTransport(then: .failure(TransportError(.connectionRefused)))
        let client = try client(dead) {
            $0.retry.budget = .shared(budget)
            $0.retry.jitter = { 0 }
        }
        for _ in 1...1000 { _ = await client.response(to: GetRestaurant(id: "1")) }
        #expect(dead.calls.count == 1100)
        // Old requests do not count.
        await clock.advance(by: .seconds(120))
        for _ in 1...9 { _ = await client.response(to: GetRestaurant(id: "1")) }
        #expect(dead.calls.count == 1109)
        _ = await client.response(to: GetRestaurant(id: "1"))
        #expect(dead.calls.count == 1111)
    }
}
