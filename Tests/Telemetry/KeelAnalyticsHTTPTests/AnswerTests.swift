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

@Suite("Vendor responses about single records")
struct AnswerTests {
    private func scripted(
        _ vendor: Vendor,
        _ answers: [ScriptedHTTPTransport.Answer]
    ) throws -> (any AnalyticsDestination, ScriptedHTTPTransport) {
        let transport = ScriptedHTTPTransport(answers)
        var connection = DestinationConnection(transport: transport)
        connection.compressesBodies = false
        connection.now = { now }
        let host = try #require(URL(string: "https://vendor.test"))
        return (vendor.destination(at: host, over: connection), transport)
    }

    // MARK: Mixpanel

    @Test("Mixpanel: the listed events are rejected, and the others are delivered")
    func mixpanelList() async throws {
        try await Scene.run(.mixpanel) { scene async throws in
            var future = AnalyticsRecord.sample(number: 2)
            future.time = now.addingTimeInterval(7200)
            let outcome = try await scene.deliver(.sample(number: 1), future, .sample(number: 3))
            #expect(outcome.reasons == [1: "refused"])
            #expect(scene.server.events.count == 2)
        }
    }

    @Test("Mixpanel: a rejected profile update is reported by its record's index")
    func mixpanelProfiles() async throws {
        let (destination, transport) = try scripted(
            .mixpanel,
            [
                .json(#"{"code":200,"num_records_imported":1,"status":"OK"}"#),
                .json(#"{"code":400,"status":0,"failed_records":[{"index":1,"field":"$set.a"}]}"#),
            ]
        )
        let outcome = await destination.deliver([
            .sample(.userProperties, number: 1, userProperties: ["a": 1]),
            .sample(number: 2),
            .sample(.userProperties, number: 3, userProperties: ["a": 2]),
        ])
        #expect(outcome.reasons == [2: "refused"])
        #expect(
            transport.calls.map { $0.head.path ?? "" }.map { $0.prefix(7) } == [
                "/import", "/engage",
            ]
        )
    }

    @Test("Mixpanel: if the profile updates fail, the whole batch is sent again")
    func mixpanelHalf() async throws {
        try await Scene.run(.mixpanel) { scene async throws in
            scene.server.enqueue(nil, .status(503, retryAfter: "7"))
            let record = AnalyticsRecord.sample(.identify, userProperties: ["city": "Bern"])
            guard case .postponed(_, let pause) = try await scene.deliver(record)
            else { return fail("not postponed") }
            #expect(pause == .seconds(7))
            #expect(try await scene.deliver(record) == .delivered)
            #expect(scene.server.events.map(\.name) == ["$identify", "$engage"])
            #expect(scene.server.duplicates == [record.id])
        }
    }

    @Test("Mixpanel: profile updates are sent in order, 50 per request")
    func mixpanelPieces() async throws {
        try await Scene.run(.mixpanel) { scene async throws in
            let batch = (1...120).map {
                AnalyticsRecord.sample(
                    .userProperties,
                    number: $0,
                    properties: [:],
                    userProperties: ["n": .integer(Int64($0))]
                )
            }
            #expect(try await scene.deliver(batch) == .delivered)
            #expect(scene.server.requests == 3)
            #expect(scene.server.events.count == 120)
            #expect(scene.server.events.last?.json.contains(#""n":120"#) == true)
        }
    }

    @Test("Mixpanel: an unreadable success response to an update leaves the outcome unknown")
    func mixpanelUnreadable() async throws {
        let (destination, _) = try scripted(.mixpanel, [.json("<html>")])
        let record = AnalyticsRecord.sample(.userProperties, userProperties: ["a": 1])
        #expect(await destination.deliver([record]).label == "unknown")
        let (other, _) = try scripted(.mixpanel, [.json(#"{"status":0,"error":"bad"}"#)])
        #expect(await other.deliver([record]).label == "unacceptable")
    }

    // MARK: Amplitude

    @Test("Amplitude: the listed events are removed, and the others are sent again at once")
    func amplitudeList() async throws {
        let (destination, transport) = try scripted(
            .amplitude,
            [
                .json(
                    #"{"code":400,"events_with_invalid_fields":{"time":[1]},"#
                        + #""events_with_missing_fields":{"event_type":[3]},"silenced_events":[0]}"#,
                    status: .badRequest
                ),
                .json(#"{"code":200}"#),
            ]
        )
        let outcome = await destination.deliver(AnalyticsRecord.samples(5))
        #expect(outcome.reasons == [0: "silenced", 1: "refused", 3: "refused"])
        let second = transport.calls[1].text
        for (number, isSent) in [(1, false), (2, false), (3, true), (4, false), (5, true)] {
            let id = AnalyticsRecord.sample(number: number).id
            #expect(second.contains(id) == isSent)
        }
    }

    @Test("Amplitude: one bad event in 500 does not hold up the others")
    func amplitudePoison() async throws {
        try await Scene.run(.amplitude) { scene async throws in
            var batch = AnalyticsRecord.samples(500)
            // Before the year 2000, which the server checks but Keel does not.
            batch[250].time = Date(timeIntervalSince1970: 10)
            #expect(try await scene.deliver(batch).reasons == [250: "refused"])
            #expect(scene.server.events.count == 499)
            #expect(scene.server.requests == 2)
        }
    }

    @Test("Amplitude: a refusal without a list is unacceptable, a wrong key is a misconfiguration")
    func amplitudeRefusals() async throws {
        let bodies = [
            #"{"code":400,"error":"Invalid request"}"#: "unacceptable",
            #"{"code":400,"error":"Invalid API key: abcd"}"#: "misconfigured",
            #"{"code":400,"missing_field":"api_key"}"#: "misconfigured",
            "<html>": "unacceptable",
            #"{"code":400,"silenced_events":[99]}"#: "unacceptable",
        ]
        for (body, label) in bodies {
            let (destination, _) = try scripted(.amplitude, [.json(body, status: .badRequest)])
            #expect(await destination.deliver(AnalyticsRecord.samples(2)).label == label, "\(body)")
        }
    }

    @Test("Amplitude: a user over the daily quota does not hold up the others")
    func amplitudeQuota() async throws {
        let throttled =
            #"{"code":429,"throttled_events":[0,1],"exceeded_daily_quota_users":{"user-1":3},"#
            + #""throttled_users":{"user-2":40}}"#
        let (destination, _) = try scripted(
            .amplitude,
            [.json(throttled, status: .tooManyRequests), .json(#"{"code":200}"#)]
        )
        let batch = ["user-1", "user-2", "user-3"].enumerated().map { index, user in
            AnalyticsRecord.sample(number: index + 1, userID: user)
        }
        #expect(await destination.deliver(batch).reasons == [0: "quotaExceeded"])
    }

    @Test("Amplitude: a server that rejects one event at a time is not asked forever")
    func amplitudeEndless() async throws {
        let refusal = ScriptedHTTPTransport.Answer.json(
            #"{"code":400,"events_with_invalid_fields":{"time":[0]}}"#,
            status: .badRequest
        )
        let (destination, transport) = try scripted(
            .amplitude,
            Array(repeating: refusal, count: 50)
        )
        #expect(await destination.deliver(AnalyticsRecord.samples(20)).label == "unacceptable")
        #expect(transport.calls.count == 4)
        #expect(await destination.deliver([.sample()]).reasons == [0: "refused"])
    }

    // MARK: The others

    @Test("PostHog: events over the quota are dropped and reported")
    func postHogQuota() async throws {
        let (destination, _) = try scripted(
            .postHog,
            [.json(#"{"status":"Ok","quota_limited":["events"]}"#), .json("Ok"), .json("")]
        )
        let batch = AnalyticsRecord.samples(2)
        #expect(
            await destination.deliver(batch).reasons == [0: "quotaExceeded", 1: "quotaExceeded"]
        )
        #expect(await destination.deliver(batch) == .delivered)
        #expect(await destination.deliver(batch) == .delivered)
    }

    @Test("Keel's ingest: a duplicate counts as delivered, and a rejection has its reason")
    func keelIngest() async throws {
        let batch = AnalyticsRecord.samples(3)
        let ids = batch.map(\.id)
        let (destination, _) = try scripted(
            .keel,
            [
                .json(
                    #"{"accepted":["\#(ids[0])"],"duplicates":["\#(ids[1])"],"#
                        + #""rejected":[{"id":"\#(ids[2])","reason":"noConsent"}]}"#
                ),
                .json(#"{"accepted":["\#(ids[0])"],"duplicates":[],"rejected":[]}"#),
                .json("{}"),
            ]
        )
        #expect(await destination.deliver(batch).reasons == [2: "noConsent"])
        // A response that omits a record counts as none.
        #expect(await destination.deliver(batch).label == "unknown")
        #expect(await destination.deliver(batch).label == "unknown")
    }

    @Test("OpenTelemetry: the number of rejected records is kept, but not which ones")
    func partialSuccess() async throws {
        for (body, count) in [
            (#"{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"x"}}"#, 2),
            (#"{"partialSuccess":{"rejectedLogRecords":1}}"#, 1), ("{}", 0),
            (#"{"partialSuccess":{"errorMessage":"a warning"}}"#, 0), ("", 0),
            (#"{"partialSuccess":{"rejectedLogRecords":"900"}}"#, 3),
        ] {
            let (destination, _) = try scripted(.openTelemetry, [.json(body)])
            let outcome = await destination.deliver(AnalyticsRecord.samples(3))
            #expect(outcome.reasons?.count == count, "\(body)")
        }
    }
}
