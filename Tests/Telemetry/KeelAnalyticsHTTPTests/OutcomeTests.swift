import HTTPTypes
import KeelAnalytics
import KeelAnalyticsHTTP
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Delivery outcomes at every destination")
struct OutcomeTests {
    @Test("Records of every kind are delivered and count once", arguments: Vendor.allCases)
    func everyKind(_ vendor: Vendor) async throws {
        let records: [AnalyticsRecord] = [
            .sample(number: 1), .sample(.screen("Home"), number: 2),
            .sample(.identify, number: 3), .sample(.event("purchase"), number: 4, userID: nil),
        ]
        try await Scene.run(vendor) { scene async throws in
            for record in records {
                let outcome = try await scene.deliver(record)
                #expect(outcome == .delivered)
            }
            let profile = AnalyticsRecord.sample(
                .userProperties,
                number: 5,
                properties: [:],
                userProperties: ["plan": "pro"]
            )
            #expect(try await scene.deliver(profile) == .delivered)
            #expect(scene.server.events.count == 5)
            #expect(scene.server.refusals.isEmpty)
        }
    }

    @Test("A batch arrives as one request, compressed or not", arguments: Vendor.allCases)
    func batch(_ vendor: Vendor) async throws {
        for compressesBodies in [false, true] {
            try await Scene.run(vendor, compressesBodies: compressesBodies) {
                scene async throws in
                #expect(try await scene.deliver(AnalyticsRecord.samples(25)) == .delivered)
                #expect(scene.server.events.count == 25)
                #expect(scene.server.requests == 1)
            }
        }
    }

    @Test(
        "A repetition after a lost response is recognized if the destination guarantees it",
        arguments: Vendor.allCases
    )
    func lostAnswer(_ vendor: Vendor) async throws {
        try await Scene.run(vendor) { scene async throws in
            scene.server.enqueue(.lostReply)
            let batch = AnalyticsRecord.samples(3)
            #expect(try await scene.deliver(batch).label == "unknown")
            #expect(scene.server.events.count == 3)
            #expect(try await scene.deliver(batch) == .delivered)
            #expect(scene.server.events.count == (vendor.isDeduplicating ? 3 : 6))
            let isOnce = scene.destination.guarantee == .effectivelyOnce
            #expect(isOnce == vendor.isDeduplicating)
        }
    }

    @Test("Statuses are mapped to different outcomes", arguments: Vendor.allCases)
    func statuses(_ vendor: Vendor) async throws {
        let late = vendor.isGoogle ? "unknown" : "postponed"
        let expected = [
            301: "misconfigured", 307: "misconfigured", 401: "misconfigured",
            403: "misconfigured", 404: "misconfigured", 406: "misconfigured", 410: "misconfigured",
            415: "misconfigured", 451: "misconfigured", 413: "tooLarge", 400: "unacceptable",
            422: "unacceptable", 408: late, 425: "postponed", 429: "postponed", 500: late,
            501: late,
            502: late, 503: late, 504: late, 511: late,
        ]
        for (status, label) in expected.sorted(by: { $0.key < $1.key }) {
            try await Scene.run(vendor) { scene async throws in
                scene.server.enqueue(.status(status))
                let outcome = try await scene.deliver(.sample())
                #expect(outcome.label == label, "status \(status)")
                #expect(scene.server.events.isEmpty)
            }
        }
    }

    @Test(
        "The pause that a server asks for is honored, in seconds and as a date",
        arguments: Vendor.allCases
    )
    func retryAfter(_ vendor: Vendor) async throws {
        let transport = ScriptedHTTPTransport([
            .status(.tooManyRequests, headers: [.retryAfter: "120"]),
            .status(
                .tooManyRequests,
                headers: [
                    .date: "Sun, 22 Nov 2026 10:00:00 GMT",
                    .retryAfter: "Sun, 22 Nov 2026 10:05:00 GMT",
                ]
            ),
            .status(.tooManyRequests),
        ])
        var connection = DestinationConnection(transport: transport)
        connection.now = { now }
        let host = try #require(URL(string: "https://vendor.test"))
        let destination = vendor.destination(at: host, over: connection)
        var pauses: [Duration?] = []
        for _ in 1...3 {
            guard case .postponed(let problem, let pause) = await destination.deliver([.sample()])
            else { return fail("not postponed") }
            #expect(problem.status == 429)
            pauses.append(pause)
        }
        let unsaid: Duration? = vendor == .amplitude ? .seconds(30) : nil
        #expect(pauses == [.seconds(120), .seconds(300), unsaid])
    }

    @Test(
        "A request that never arrived is postponed, and one that may have arrived is unknown",
        arguments: Vendor.allCases
    )
    func failures(_ vendor: Vendor) async throws {
        let expected: [(TransportError, String)] = [
            (TransportError(.connectionRefused), "postponed"),
            (TransportError(.offline), "postponed"),
            (TransportError(.hostNotFound), "postponed"),
            (TransportError(.tlsUntrusted), "postponed"),
            (TransportError(.connectTimeout), "postponed"),
            (TransportError(.streamRefused, processed: .no), "postponed"),
            (TransportError(.connectionLost), "unknown"),
            (TransportError(.responseTimeout), "unknown"),
            (TransportError(.truncatedBody), "unknown"),
            (TransportError(.invalidRequest), "misconfigured"),
            (TransportError(.platformPolicy), "misconfigured"),
        ]
        for (error, label) in expected {
            let transport = ScriptedHTTPTransport([.failure(error)])
            var connection = DestinationConnection(transport: transport)
            connection.now = { now }
            let host = try #require(URL(string: "https://vendor.test"))
            let outcome = await vendor.destination(at: host, over: connection).deliver([.sample()])
            #expect(outcome.label == label, "\(error)")
            #expect(transport.calls.count == 1, "a destination does not repeat")
        }
    }

    @Test("A wrong key is a misconfiguration if the vendor reports it", arguments: Vendor.allCases)
    func wrongKey(_ vendor: Vendor) async throws {
        try await Scene.run(vendor, key: "another-key") { scene async throws in
            let outcome = try await scene.deliver(.sample())
            // Google answers 204 to everything.
            #expect(outcome.label == (vendor.isGoogle ? "delivered" : "misconfigured"))
            #expect(scene.server.events.isEmpty)
        }
    }

    @Test("Delivery to a server that never responds ends at the time limit")
    func timeout() async throws {
        let clock = TestClock()
        let transport = ScriptedHTTPTransport(then: .stall)
        var connection = DestinationConnection(transport: transport)
        connection.clock = clock
        connection.timeout = .seconds(20)
        let host = try #require(URL(string: "https://vendor.test"))
        let destination = Vendor.segment.destination(at: host, over: connection)
        async let outcome = destination.deliver([.sample()])
        await clock.waitForSleepers(1)
        // The timeout starts before the request is sent; one that was never sent is not in doubt.
        try await waitUntil { !transport.calls.isEmpty }
        await clock.advance(by: .seconds(20))
        #expect(await outcome.label == "unknown")
    }
}
