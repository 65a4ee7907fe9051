import HTTPTypes
import KeelTestKit
import Testing

@Suite("Vendor doubles reject what the vendors reject")
struct DoubleTests {
    /// A valid request, and ways to invalidate it.
    struct Sample: Sendable, CustomTestStringConvertible {
        let vendor: Vendor
        let target: String
        var authorization: String?
        let body: String
        /// Replacements, each of which makes the server refuse the whole request.
        let faults: [(String, String)]

        var testDescription: String { vendor.rawValue }
    }

    private static let basic = "Basic azN5LTBmLXRoZS1wcm9qZWN0Og=="
    private static let time = "2026-11-22T10:00:00.123Z"

    static let samples = [
        Sample(
            vendor: .segment,
            target: "/v1/batch",
            authorization: basic,
            body: #"""
                {"batch":[{"type":"track","event":"E","messageId":"m1","userId":"u","timestamp":"\#(time)","properties":{},"context":{"library":{"name":"x"}}}]}
                """#,
            faults: [
                (#""track""#, #""click""#), (#""event":"E","#, ""), (#""messageId":"m1","#, ""),
                (#""m1""#, "\"" + String(repeating: "m", count: 100) + "\""),
                (#""userId":"u","#, ""), (time, "yesterday"),
                (#""properties":{}"#, #""properties":1"#),
                (#"{"library":{"name":"x"}}"#, "{}"), (#"{"batch""#, #"{"events""#), ("]}", "]"),
                (#""E""#, "\"" + String(repeating: "e", count: 33_000) + "\""),
            ]
        ),
        Sample(
            vendor: .mixpanel,
            target: "/import?strict=1",
            authorization: basic,
            body: #"""
                [{"event":"E","properties":{"time":1795341600123,"distinct_id":"u","$insert_id":"i-1","a":1}}]
                """#,
            faults: [
                (#""event":"E","#, ""), ("1795341600123", "10"), ("1795341600123", "1795349600123"),
                (#""time":1795341600123,"#, ""), (#""u""#, #""null""#),
                (#""distinct_id":"u","#, ""),
                (#""$insert_id":"i-1","#, ""), (#""i-1""#, #""i_1""#),
                (#""i-1""#, "\"" + String(repeating: "i", count: 37) + "\""),
                (#""a":1"#, #""a":[[[[1]]]]"#),
                (#""a":1"#, #""a":["# + String(repeating: "1,", count: 254) + "1]"),
                ("]", ""),
            ]
        ),
        Sample(
            vendor: .amplitude,
            target: "/2/httpapi",
            body: #"""
                {"api_key":"\#(Vendor.secret)","events":[{"event_type":"E","user_id":"user-1","device_id":"device-1","time":1795341600123,"insert_id":"i","event_properties":{}}]}
                """#,
            faults: [
                (Vendor.secret, "other"), (#""event_type":"E","#, ""),
                (#""E""#, #""[Amplitude] Revenue""#),
                (#""user_id":"user-1","device_id":"device-1","#, ""), (#""user-1""#, #""u""#),
                ("1795341600123", #""1795341600123""#), (#""insert_id":"i""#, #""insert_id":1"#),
                (#""event_properties":{}"#, #""event_properties":[]"#),
                (#""insert_id":"i""#, #""insertId":"i""#), (#""events""#, #""event""#),
            ]
        ),
        Sample(
            vendor: .postHog,
            target: "/batch",
            body: #"""
                {"api_key":"\#(Vendor.secret)","sent_at":"\#(time)","batch":[{"event":"E","uuid":"019aab00-0000-7000-8000-000000000001","timestamp":"\#(time)","distinct_id":"u","properties":{"$lib":"x"}}]}
                """#,
            faults: [
                (Vendor.secret, "other"), (#""event":"E","#, ""), ("019aab00-", ""),
                (#""timestamp":"\#(time)","#, ""),
                (#""distinct_id":"u""#, #""distinct_id":"guest""#),
                (#""u""#, "\"" + String(repeating: "u", count: 201) + "\""),
                (#""properties":{"$lib":"x"}"#, #""properties":1"#), (#""E""#, #""$identify""#),
                (#""E""#, #""$screen""#), (#""E""#, #""$set""#),
            ]
        ),
        Sample(
            vendor: .googleAnalyticsWeb,
            target: "/mp/collect?measurement_id=G-1&api_secret=\(Vendor.secret)",
            body: #"""
                {"client_id":"c","user_properties":{"city":{"value":"Bern"}},"events":[{"name":"E","timestamp_micros":1795341600123000,"params":{"a":"b","session_id":"1"}}]}
                """#,
            faults: [
                (#""client_id":"c","#, ""), (#""E""#, #""1st""#), (#""E""#, #""ga_x""#),
                (#""E""#, #""session_start""#), ("1795341600123000", "1795000000000000"),
                (#""a":"b""#, #""a":[1]"#), (#""a":"b""#, #""a":true"#),
                (#""a":"b""#, #""a b":"b""#),
                (#""b""#, "\"" + String(repeating: "b", count: 101) + "\""),
                (#""session_id":"1""#, #""session_id":"one""#), (#""Bern""#, "[1]"),
                (#""Bern""#, "\"" + String(repeating: "b", count: 37) + "\""),
                (#""city""#, #""user_id""#),
            ]
        ),
        Sample(
            vendor: .keel,
            target: "/v1/analytics/batch",
            authorization: "Bearer \(Vendor.secret)",
            body: #"""
                {"version":1,"records":[{"id":"1","kind":"event","name":"E","time":1795341600123,"anonymousId":"a","purpose":"analytics","context":{}}]}
                """#,
            faults: [
                (#""version":1"#, #""version":2"#), (#""id":"1","#, ""),
                (#""kind":"event""#, #""kind":"x""#),
                (#""name":"E","#, ""), ("1795341600123", #""now""#), (#""anonymousId":"a","#, ""),
                (#""purpose":"analytics","#, ""), (#","context":{}"#, ""),
            ]
        ),
        Sample(
            vendor: .openTelemetry,
            target: "/v1/logs",
            authorization: "Bearer \(Vendor.secret)",
            body: #"""
                {"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"x"}}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1795341600123000000","severityNumber":9,"eventName":"E","attributes":[{"key":"a","value":{"intValue":"1"}}]}]}]}]}
                """#,
            faults: [
                ("service.name", "name"), (#""1795341600123000000""#, "1795341600123000000"),
                (#""eventName":"E","#, ""), (#""severityNumber":9"#, #""severityNumber":0"#),
                (#""intValue":"1""#, #""intValue":1"#), (#""intValue":"1""#, #""integer":"1""#),
                (#""intValue":"1""#, #""doubleValue":"1""#),
            ]
        ),
    ]

    private func request(_ sample: Sample, _ body: String) -> HTTPTestRequest {
        var fields: [HTTPTestRequest.Field] = [.init("Content-Type", "application/json")]
        if let authorization = sample.authorization {
            fields.append(.init("Authorization", authorization))
        }
        var request = HTTPTestRequest(
            method: "POST",
            target: sample.target,
            version: "HTTP/1.1",
            fields: fields
        )
        request.body = Array(body.utf8)
        return request
    }

    @Test("A valid request is counted, and a request with any one fault is not", arguments: samples)
    func faults(_ sample: Sample) async {
        let good = sample.vendor.double
        _ = await good.answer(request(sample, sample.body))
        #expect(good.events.count == 1, "\(good.refusals)")
        for (part, replacement) in sample.faults {
            let body = sample.body.replacing(part, with: replacement, maxReplacements: 1)
            #expect(body != sample.body, "\(part)")
            let server = sample.vendor.double
            _ = await server.answer(request(sample, body))
            #expect(server.events.isEmpty, "\(part) as \(replacement.prefix(40))")
            #expect(server.refusals.count == 1, "\(part) as \(replacement.prefix(40))")
        }
    }

    @Test("Another path, another method and a wrong key are refused", arguments: samples)
    func address(_ sample: Sample) async {
        let server = sample.vendor.double
        var elsewhere = request(sample, sample.body)
        elsewhere.target = "/elsewhere"
        #expect(await server.answer(elsewhere).head.status == .notFound)
        var get = request(sample, sample.body)
        get.method = "GET"
        #expect(await server.answer(get).head.status == .notFound)
        var unsigned = request(sample, sample.body.replacing(Vendor.secret, with: "other"))
        unsigned.fields.removeAll { $0.name == "Authorization" }
        unsigned.target = sample.target.replacing(Vendor.secret, with: "other")
        _ = await server.answer(unsigned)
        #expect(server.events.isEmpty)
        #expect(server.refusals.count == 3)
    }

    @Test(
        "A repeated event counts once if the vendor has a field for deduplication",
        arguments: samples
    )
    func repetition(_ sample: Sample) async {
        let server = sample.vendor.double
        for _ in 1...3 { _ = await server.answer(request(sample, sample.body)) }
        #expect(server.events.count == (sample.vendor.isDeduplicating ? 1 : 3))
        #expect(server.duplicates.count == (sample.vendor.isDeduplicating ? 2 : 0))
    }

    @Test("A body that is declared as gzip but is not is refused")
    func gzip() async {
        let sample = Self.samples[0]
        var request = request(sample, sample.body)
        request.fields.append(.init("Content-Encoding", "gzip"))
        let server = sample.vendor.double
        #expect(await server.answer(request).head.status == .badRequest)
        #expect(server.events.isEmpty)
    }
}
