import HTTPTypes
import KeelAnalytics
import KeelAnalyticsHTTP
import KeelTestKit
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Vendor request formats")
struct FormTests {
    /// A value of each kind.
    private static let everyValue: [String: AnalyticsValue] = [
        "array": [1, "two", nil], "boolean": true, "date": .date(now), "double": 0.5,
        "infinite": .double(.infinity), "integer": -7, "null": nil,
        "object": ["b": 1, "a": "\"quoted\"\n"], "string": "Zürich 🇨🇭",
    ]

    private static let values = #"""
        "array":[1,"two",null],"boolean":true,"date":"2026-11-22T10:00:00.123Z","double":0.5,"infinite":null,"integer":-7,"null":null,"object":{"a":"\"quoted\"\n","b":1},"string":"Zürich 🇨🇭"
        """#

    private static let id = "019aab00-0000-7000-8000-000000000001"
    private static let device = "8f0c1d52-7e5b-4f0a-9a56-3a3f7a1d9c11"
    private static let session = "019aab00-0000-7000-9000-000000000000"

    @Test("Segment")
    func segment() async throws {
        try await Scene.run(.segment) { scene async throws in
            _ = try await scene.deliver(.sample(properties: Self.everyValue))
            let context = #"""
                {"library":{"name":"keel","version":"0.1.0"},"app":{"name":"Notes","version":"2.1.0","build":"210"},"os":{"name":"Linux","version":"12"},"device":{"model":"x86_64"},"locale":"de-CH","timezone":"Europe/Zurich","sessionId":"\#(Self.session)","sessionStart":"2026-11-22T09:50:00.000Z"}
                """#
            #expect(
                scene.body == #"""
                    {"batch":[{"type":"track","event":"signed_up","properties":{\#(Self.values)},"messageId":"\#(Self.id)","timestamp":"2026-11-22T10:00:00.123Z","userId":"user-42","anonymousId":"\#(Self.device)","context":\#(context),"integrations":{}}],"sentAt":"2026-11-22T10:00:00.123Z"}
                    """#
            )
            #expect(
                scene.origin.requests[0]["authorization"] == "Basic azN5LTBmLXRoZS1wcm9qZWN0Og=="
            )
        }
    }

    @Test("Mixpanel: an event, followed by a profile update")
    func mixpanel() async throws {
        try await Scene.run(.mixpanel) { scene async throws in
            _ = try await scene.deliver(
                .sample(.identify, properties: ["plan": "pro"], userProperties: ["city": "Bern"])
            )
            let requests = scene.origin.requests
            #expect(
                requests.map(\.target) == ["/import?strict=1", "/engage?ip=0&strict=1&verbose=1"]
            )
            #expect(
                requests[0].text == #"""
                    [{"event":"$identify","properties":{"plan":"pro","time":1795341600123,"distinct_id":"user-42","$insert_id":"\#(Self.id)","$device_id":"\#(Self.device)","$user_id":"user-42","$app_name":"Notes","$app_version_string":"2.1.0","$app_build_number":"210","$os":"Linux","$os_version":"12","$model":"x86_64","$locale":"de-CH","$timezone":"Europe/Zurich","session_id":"\#(Self.session)","mp_lib":"keel","$lib_version":"0.1.0"}}]
                    """#
            )
            #expect(
                requests[1].text == #"""
                    [{"$token":"\#(Vendor.secret)","$distinct_id":"user-42","$time":1795341600123,"$set":{"city":"Bern"}}]
                    """#
            )
        }
    }

    @Test("Amplitude")
    func amplitude() async throws {
        try await Scene.run(.amplitude) { scene async throws in
            _ = try await scene.deliver(
                .sample(properties: Self.everyValue),
                .sample(
                    .userProperties,
                    number: 2,
                    properties: [:],
                    userProperties: ["city": "Bern"]
                )
            )
            let tail = #"""
                "app_version":"2.1.0","platform":"Linux","os_name":"Linux","os_version":"12","device_model":"x86_64","language":"de-CH","library":"keel/0.1.0"
                """#
            let who = #"""
                "time":1795341600123,"user_id":"user-42","device_id":"\#(Self.device)","session_id":1795341000000
                """#
            #expect(
                scene.body == #"""
                    {"api_key":"\#(Vendor.secret)","events":[{"event_type":"signed_up","insert_id":"\#(Self.id)",\#(who),"event_properties":{\#(Self.values)},\#(tail)},{"event_type":"$identify","insert_id":"019aab00-0000-7000-8000-000000000002",\#(who),"user_properties":{"$set":{"city":"Bern"}},\#(tail)}]}
                    """#
            )
        }
    }

    @Test("PostHog: a screen of an anonymous user, then the identification")
    func postHog() async throws {
        try await Scene.run(.postHog) { scene async throws in
            _ = try await scene.deliver(
                .sample(.screen("Home"), userID: nil),
                .sample(.identify, number: 2, properties: [:], userProperties: ["city": "Bern"])
            )
            let context = #"""
                "$lib":"keel","$lib_version":"0.1.0","$app_name":"Notes","$app_version":"2.1.0","$app_build":"210","$os_name":"Linux","$os_version":"12","$device_model":"x86_64","$locale":"de-CH","$timezone":"Europe/Zurich","$device_id":"\#(Self.device)","$session_id":"\#(Self.session)"
                """#
            #expect(
                scene.body == #"""
                    {"api_key":"\#(Vendor.secret)","historical_migration":false,"sent_at":"2026-11-22T10:00:00.123Z","batch":[{"event":"$screen","uuid":"\#(Self.id)","timestamp":"2026-11-22T10:00:00.123Z","distinct_id":"\#(Self.device)","properties":{"plan":"pro","$screen_name":"Home","$process_person_profile":false,\#(context)}},{"event":"$identify","uuid":"019aab00-0000-7000-8000-000000000002","timestamp":"2026-11-22T10:00:00.123Z","distinct_id":"user-42","properties":{"$anon_distinct_id":"\#(Self.device)","$set":{"city":"Bern"},\#(context)}}]}
                    """#
            )
        }
    }

    @Test("Google Analytics, for a web stream and an app stream")
    func googleAnalytics() async throws {
        let events = #"""
            "events":[{"name":"screen_view","timestamp_micros":1795341600123000,"params":{"app_version":"2.1.0","flag":"true","language":"de-CH","price":9.5,"screen_name":"Home","session_id":"1795341000","engagement_time_msec":1}}]}
            """#
        let record = AnalyticsRecord.sample(
            .screen("Home"),
            properties: ["flag": true, "price": 9.5, "nothing": nil],
            userProperties: ["city": "Bern"]
        )
        let user = #""user_id":"user-42","user_properties":{"city":{"value":"Bern"}},"#
        try await Scene.run(.googleAnalyticsWeb) { scene async throws in
            _ = try await scene.deliver(record)
            #expect(scene.body == #"{"client_id":"\#(Self.device)",\#(user)\#(events)"#)
            let target = "/mp/collect?measurement_id=G-1&api_secret=\(Vendor.secret)"
            #expect(scene.origin.requests[0].target == target)
        }
        try await Scene.run(.googleAnalyticsApp) { scene async throws in
            _ = try await scene.deliver(record)
            let instance = #"{"app_instance_id":"0123456789abcdef0123456789abcdef","#
            #expect(scene.body == instance + user + events)
        }
    }

    @Test("Google Analytics receives the user's current ad consent with each request")
    func googleAdConsent() async throws {
        typealias AdConsent = GoogleAnalyticsDestination.AdConsent
        let consent = Mutex(AdConsent())
        let transport = ScriptedHTTPTransport(then: .status(.noContent))
        var connection = DestinationConnection(transport: transport)
        connection.now = { now }
        let destination = GoogleAnalyticsDestination(
            stream: .web(measurementID: "G-1"),
            apiSecret: Vendor.secret,
            connection: connection,
            adConsent: { consent.withLock { $0 } }
        )
        for (answer, expected) in [
            (AdConsent(), nil),
            (AdConsent(userData: .granted), #""consent":{"ad_user_data":"GRANTED"}"#),
            (
                AdConsent(userData: .granted, personalization: .denied),
                #""consent":{"ad_user_data":"GRANTED","ad_personalization":"DENIED"}"#
            ),
        ] {
            consent.withLock { $0 = answer }
            #expect(await destination.deliver([.sample(.screen("Home"))]) == .delivered)
            let body = String(decoding: transport.calls.last?.body ?? [], as: UTF8.self)
            #expect(body.contains(expected ?? "events"))
            #expect(body.contains("consent") == (expected != nil))
        }
    }

    @Test("Keel's ingest")
    func keel() async throws {
        try await Scene.run(.keel) { scene async throws in
            _ = try await scene.deliver(.sample(.screen("Home"), properties: Self.everyValue))
            let context = #"""
                {"appName":"Notes","appVersion":"2.1.0","appBuild":"210","systemName":"Linux","systemVersion":"12","deviceModel":"x86_64","locale":"de-CH","timeZone":"Europe/Zurich"}
                """#
            #expect(
                scene.body == #"""
                    {"version":1,"sentAt":"2026-11-22T10:00:00.123Z","records":[{"id":"\#(Self.id)","kind":"screen","name":"Home","time":1795341600123,"userId":"user-42","anonymousId":"\#(Self.device)","purpose":"analytics","session":{"id":"\#(Self.session)","start":1795341000000},"properties":{\#(Self.values)},"context":\#(context)}]}
                    """#
            )
        }
    }

    @Test("OpenTelemetry: values carry their type, and long numbers are strings")
    func openTelemetry() async throws {
        try await Scene.run(.openTelemetry) { scene async throws in
            var record = AnalyticsRecord.sample(
                properties: [
                    "list": [1, true], "map": ["a": 0.5], "none": nil, "nan": .double(.nan),
                ]
            )
            record.context = AnalyticsContext()
            record.context.appName = "Notes"
            record.session = nil
            _ = try await scene.deliver(record)
            let attributes = #"""
                [{"key":"list","value":{"arrayValue":{"values":[{"intValue":"1"},{"boolValue":true}]}}},{"key":"map","value":{"kvlistValue":{"values":[{"key":"a","value":{"doubleValue":0.5}}]}}},{"key":"nan","value":{}},{"key":"none","value":{}},{"key":"log.record.uid","value":{"stringValue":"\#(Self.id)"}},{"key":"user.id","value":{"stringValue":"user-42"}},{"key":"app.installation.id","value":{"stringValue":"\#(Self.device)"}}]
                """#
            #expect(
                scene.body == #"""
                    {"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"Notes"}}]},"scopeLogs":[{"scope":{"name":"keel","version":"0.1.0"},"logRecords":[{"timeUnixNano":"1795341600123000000","observedTimeUnixNano":"1795341600123000000","severityNumber":9,"severityText":"INFO","eventName":"signed_up","attributes":\#(attributes)}]}]}]}
                    """#
            )
        }
    }

    @Test("Every character and every number survives the round trip")
    func roundTrip() async throws {
        struct Body: Decodable {
            struct Record: Decodable {
                struct Properties: Decodable {
                    let text: String
                    let numbers: [Double]
                    let whole: [Int64]
                }
                let properties: Properties
            }
            let records: [Record]
        }
        let ascii = String(String.UnicodeScalarView((0..<0x100).compactMap { Unicode.Scalar($0) }))
        let text = ascii + "\u{2028}\u{FFFD}\u{FEFF}e\u{301}👩‍👩‍👧‍👦🇨🇭\u{10FFFF}"
        let numbers = [0.1, -0.0, 1e300, 5e-10, 1e16, 123_456_789.123_456_79, 2.5e-308]
        let whole: [Int64] = [0, -1, .max, .min]
        try await Scene.run(.keel) { scene async throws in
            let record = AnalyticsRecord.sample(properties: [
                "text": .string(text), "numbers": .array(numbers.map { .double($0) }),
                "whole": .array(whole.map { .integer($0) }),
            ])
            #expect(try await scene.deliver(record) == .delivered)
            let body = try JSONDecoder().decode(Body.self, from: Data(scene.body.utf8))
            let properties = try #require(body.records.first?.properties)
            #expect(properties.text.unicodeScalars.elementsEqual(text.unicodeScalars))
            #expect(properties.numbers == numbers)
            #expect(properties.whole == whole)
        }
    }

    @Test("A property with the name of a fixed field does not replace the field")
    func fixedFields() async throws {
        let properties: [String: AnalyticsValue] = [
            "distinct_id": "evil", "$insert_id": "evil", "time": 1, "$lib": "evil",
            "user.id": "evil",
        ]
        for vendor in [Vendor.mixpanel, .postHog, .openTelemetry] {
            try await Scene.run(vendor) { scene async throws in
                #expect(try await scene.deliver(.sample(properties: properties)) == .delivered)
                let event = try #require(scene.server.events.first)
                #expect(event.id == Self.id)
                #expect(event.subject == "user-42")
            }
        }
    }
}
