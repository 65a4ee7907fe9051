import HTTPTypes
import KeelAnalyticsHTTP
import KeelCore
import KeelHTTP
import KeelJournal
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

/// Vendors that refuse, fail and stall for hours, and then recover.
@Suite("Misbehaving receivers", .timeLimit(.minutes(5)))
struct MisbehavingReceiverTests {
    private static let eventCount = 8

    /// A service for a vendor, with its requests counted per minute.
    private struct Scene {
        private struct State {
            var requests: [Duration] = []
            var isHealthy = false
            var arrived: [String: Int] = [:]
        }

        private final class Log: Sendable {
            let state = Mutex(State())
        }

        let clock = TestClock()
        let service: AnalyticsService
        private let log = Log()

        init(
            _ vendor: Vendor,
            _ answer: @escaping @Sendable (TestClock) throws(TransportError) -> HTTPReply
        ) throws {
            let transport = ScriptedHTTPTransport(
                then: .init { [clock, log] call async throws(TransportError) in
                    let isHealthy = log.state.withLock { state in
                        state.requests.append(clock.elapsed)
                        return state.isHealthy
                    }
                    guard isHealthy else { return try answer(clock) }
                    log.state.withLock { state in
                        for number in 0..<eventCount where call.text.contains("event_\(number)\"") {
                            state.arrived["event_\(number)", default: 0] += 1
                        }
                    }
                    return HTTPReply(
                        head: HTTPResponse(status: .ok),
                        body: .chunks([Array(vendor.success(for: call.text).utf8)])
                    )
                }
            )
            var connection = DestinationConnection(transport: transport)
            connection.compressesBodies = false
            connection.clock = clock
            connection.now = { now }
            var configuration = AnalyticsConfiguration()
            configuration.clock = clock
            configuration.now = { Int64(now.timeIntervalSince1970 * 1_000_000) }
            configuration.defaultConsent = .granted
            let random = Mutex(SeededRandom(seed: 3))
            configuration.random = { random.withLock { $0.next() } }
            let host = try #require(URL(string: "https://vendor.test"))
            let destination = vendor.destination(at: host, over: connection)
            configuration.add(RenamedDestination(destination))
            service = try AnalyticsService(
                at: "/a",
                configuration: configuration,
                files: SimulatedFileSystem()
            )
            for number in 0..<eventCount { service.trackEvent("event_\(number)") }
        }

        /// Delivers as `run()` does, until everything is sent or the time is over.
        ///
        /// The clock advances during a delivery only if answers stall; otherwise requests that are
        /// merely slow to compute would exceed their timeouts.
        func deliver(for duration: Duration, dawdles: Bool = false) async throws {
            let end = clock.elapsed + duration
            while clock.elapsed < end {
                let lane = service.lanes[0]
                let ending =
                    dawdles
                    ? try await clock.run { await lane.deliver() } : await lane.deliver()
                guard case .paused(let pause) = ending else { return }
                await clock.advance(by: max(pause, .milliseconds(1)))
            }
        }

        func heal() { log.state.withLock { $0.isHealthy = true } }

        var requestCount: Int { log.state.withLock { $0.requests.count } }

        var arrived: [String: Int] { log.state.withLock { $0.arrived } }

        /// The maximum number of requests in any minute.
        var mostInAMinute: Int {
            let times = log.state.withLock { $0.requests }
            let counts = times.map { start in
                times.count { $0 >= start && $0 - start < .seconds(60) }
            }
            return counts.max() ?? 0
        }

        func ledger() throws -> AnalyticsLedger { try #require(try service.ledgers()["vendor"]) }
    }

    @Test("No status from 400 to 599 loses an event at once", arguments: Vendor.allCases)
    func everyStatus(_ vendor: Vendor) async throws {
        let status = Mutex(0)
        let transport = ScriptedHTTPTransport(
            then: .init { _ async throws(TransportError) in
                HTTPReply(head: HTTPResponse(status: .init(code: status.withLock { $0 })))
            }
        )
        var connection = DestinationConnection(transport: transport)
        connection.now = { now }
        let host = try #require(URL(string: "https://vendor.test"))
        let destination = vendor.destination(at: host, over: connection)
        for code in 400...599 {
            status.withLock { $0 = code }
            let isOpen = vendor.isGoogle && (code == 408 || code >= 500)
            let expected =
                switch code {
                case 400, 422: "unacceptable"
                case 413: "tooLarge"
                case 408, 421, 425, 429, 500...: isOpen ? "unknown" : "postponed"
                default: "misconfigured"
                }
            let outcome = await destination.deliver(AnalyticsRecord.samples(2))
            #expect(outcome.label == expected, "status \(code)")
        }
        #expect(transport.calls.count == 200)
    }

    /// The failures whose handling differs, and every tenth; all in a thorough run.
    private static let statuses = (400...599).filter { status in
        TestLength.isThorough || status.isMultiple(of: 10)
            || [401, 403, 404, 408, 413, 421, 422, 425, 429, 499, 503, 504].contains(status)
    }

    @Test(
        "A failing server is rarely asked for hours and receives everything after its recovery",
        arguments: Vendor.allCases
    )
    func hours(_ vendor: Vendor) async throws {
        for status in Self.statuses {
            let scene = try Scene(vendor) { _ in
                HTTPReply(head: HTTPResponse(status: .init(code: status)))
            }
            try await scene.deliver(for: .seconds(7200))
            #expect(scene.mostInAMinute <= 40, "status \(status): \(scene.mostInAMinute)")
            let requests = scene.requestCount
            #expect((1...200).contains(requests), "status \(status): \(requests)")
            try await expectRecovery(scene, vendor, mayLose: status == 408 || status >= 500)
        }
    }

    @Test("Delivery recovers from slow and endless responses", arguments: Vendor.allCases)
    func endless(_ vendor: Vendor) async throws {
        for (status, pause) in [(200, 1), (200, 0), (400, 1), (500, 0), (503, 1)] {
            let scene = try Scene(vendor) { clock in
                HTTPReply(
                    head: HTTPResponse(status: .init(code: status)),
                    body: .endless(.seconds(pause), on: clock)
                )
            }
            try await scene.deliver(for: .seconds(1800), dawdles: true)
            #expect(scene.mostInAMinute <= 40)
            try await expectRecovery(scene, vendor, mayLose: true)
        }
    }

    /// The moment at which a connection is reset.
    private enum Reset: CaseIterable {
        case refused, inRequest, beforeAnswer, inAnswer

        func reply() throws(TransportError) -> HTTPReply {
            switch self {
            case .refused: throw TransportError(.connectionRefused)
            case .inRequest: throw TransportError(.connectionLost, phase: .send)
            case .beforeAnswer: throw TransportError(.streamReset, phase: .awaitHead)
            case .inAnswer:
                let body = HTTPByteStream.chunks([]).mapReads { _ async throws(TransportError) in
                    throw TransportError(.connectionLost, phase: .readBody)
                }
                return HTTPReply(head: HTTPResponse(status: .ok), body: body)
            }
        }
    }

    @Test(
        "Delivery recovers from connections that are reset at any point",
        arguments: Vendor.allCases
    )
    func resets(_ vendor: Vendor) async throws {
        for reset in Reset.allCases {
            let scene = try Scene(vendor) { _ throws(TransportError) in try reset.reply() }
            try await scene.deliver(for: .seconds(7200))
            #expect(scene.mostInAMinute <= 40, "\(reset): \(scene.mostInAMinute)")
            #expect((1...200).contains(scene.requestCount), "\(reset): \(scene.requestCount)")
            try await expectRecovery(scene, vendor, mayLose: reset != .refused)
        }
    }

    /// Expects the rest to arrive after the vendor's recovery, and a matching ledger.
    private func expectRecovery(_ scene: Scene, _ vendor: Vendor, mayLose: Bool) async throws {
        scene.heal()
        try await scene.deliver(for: .seconds(8000))
        let ledger = try scene.ledger()
        #expect(ledger.isBalanced && ledger.pending == 0, "\(ledger)")
        // Events that may have arrived are never sent twice to Google, and count as unconfirmed.
        let open = vendor.isGoogle && mayLose ? ledger.rejected["unconfirmed"] ?? 0 : 0
        #expect(ledger.rejectedCount == open, "\(ledger)")
        #expect(ledger.delivered == Self.eventCount - open)
        #expect(scene.arrived.count == Self.eventCount - open)
        #expect(scene.arrived.values.allSatisfy { $0 == 1 })
    }
}

/// A destination with the name `vendor`.
private struct RenamedDestination: AnalyticsDestination {
    private let upstream: any AnalyticsDestination

    init(_ upstream: any AnalyticsDestination) { self.upstream = upstream }

    var name: String { "vendor" }
    var guarantee: DeliveryGuarantee { upstream.guarantee }
    var limits: BatchLimits { upstream.limits }

    func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try upstream.size(of: record)
    }

    func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        await upstream.deliver(batch)
    }
}

extension Vendor {
    /// The vendor's response after accepting a whole request.
    fileprivate func success(for request: String) -> String {
        guard self == .keel else { return #"{"code":200,"status":1}"# }
        struct Batch: Decodable {
            struct Record: Decodable { let id: String }
            let records: [Record]
        }
        let batch = try? JSONDecoder().decode(Batch.self, from: Data(request.utf8))
        let ids = (batch?.records ?? []).map { "\"\($0.id)\"" }.joined(separator: ",")
        return #"{"accepted":[\#(ids)],"duplicates":[],"rejected":[]}"#
    }
}
