import HTTPTypes
import KeelAnalyticsHTTP
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelAnalytics

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Consent that ends before a request starts", .timeLimit(.minutes(1)))
struct PermitTests {
    /// A middleware in which a request waits while the user changes their mind.
    private struct Waiting: HTTPMiddleware {
        let decide: @Sendable () -> Void

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            decide()
            return try await next(call)
        }
    }

    @Test(
        "A request that waits in one of the app's layers does not start after a denial",
        arguments: Vendor.allCases,
        [false, true]
    )
    func denialWhileWaiting(_ vendor: Vendor, isGrantedAgain: Bool) async throws {
        let opened = Mutex<AnalyticsService?>(nil)
        let transport = ScriptedHTTPTransport(
            then: .init { _ async throws(TransportError) in
                HTTPReply(head: HTTPResponse(status: .ok))
            }
        )
        var connection = DestinationConnection(transport: transport)
        connection.now = { now }
        connection.middleware = [
            Waiting {
                // The service calls this without holding a lock.
                let service = opened.withLock { $0 }
                try? service?.denyConsent(for: .analytics)
                if isGrantedAgain { try? service?.grantConsent(for: .analytics) }
            }
        ]
        var configuration = AnalyticsConfiguration()
        configuration.now = { Int64(now.timeIntervalSince1970 * 1_000_000) }
        configuration.defaultConsent = .unknown
        configuration.clock = TestClock()
        let host = try #require(URL(string: "https://vendor.test"))
        let destination = vendor.destination(at: host, over: connection)
        configuration.add(destination)
        let service = try AnalyticsService(
            at: "/a",
            configuration: configuration,
            files: SimulatedFileSystem()
        )
        try service.grantConsent(for: .analytics)
        opened.withLock { $0 = service }
        defer { opened.withLock { $0 = nil } }
        for _ in 0..<3 { service.trackEvent("a") }
        #expect(await service.flush())
        #expect(transport.calls.isEmpty)
        let ledger = try #require(try service.ledgers()[destination.name])
        #expect(ledger.purged == 3 && ledger.isBalanced, "\(ledger)")
        #expect(service.status.destinations[destination.name]?.failures == 0)
    }
}
