import KeelAnalytics
import KeelAnalyticsHTTP
import KeelHTTP
import KeelTestKit
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Rules that are checked before sending")
struct RuleTests {
    private func destination(_ vendor: Vendor) throws -> any AnalyticsDestination {
        var connection = DestinationConnection(transport: ScriptedHTTPTransport())
        connection.now = { now }
        let host = try #require(URL(string: "https://vendor.test"))
        return vendor.destination(at: host, over: connection)
    }

    private func properties(_ count: Int) -> [String: AnalyticsValue] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ("p\($0)", AnalyticsValue.integer(1)) })
    }

    private func nested(_ depth: Int) -> AnalyticsValue {
        (0..<depth).reduce(.integer(1)) { value, _ in .array([value]) }
    }

    @Test("Every destination has its own name and limits", arguments: Vendor.allCases)
    func names(_ vendor: Vendor) throws {
        let destination = try destination(vendor)
        #expect((1...32).contains(destination.name.utf8.count))
        #expect(
            destination.name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
        )
        #expect(destination.limits.records > 0)
        #expect(destination.limits.bytes > 0)
    }

    @Test(
        "An event without a name and a known user without an identifier are rejected",
        arguments: Vendor.allCases
    )
    func unnamed(_ vendor: Vendor) throws {
        let destination = try destination(vendor)
        #expect(refusal(of: .sample(.event("")), by: destination) == "invalidName")
        #expect(refusal(of: .sample(.screen("")), by: destination) == "invalidName")
        #expect(refusal(of: .sample(.identify, userID: nil), by: destination) == "missingUser")
    }

    @Test(
        "An event that is too large is rejected, and one that just fits is accepted",
        arguments: [
            (Vendor.segment, 32 * 1024), (.mixpanel, 1_000_000), (.postHog, 1_000_000),
            (.keel, 64 * 1024),
        ]
    )
    func tooLarge(_ vendor: Vendor, _ limit: Int) throws {
        let destination = try destination(vendor)
        // Arrays of texts, because long texts are truncated. Each element takes 104 bytes, and the
        // last array as many as requested.
        func record(_ elements: Int, _ rest: Int) -> AnalyticsRecord {
            let text = AnalyticsValue.string(String(repeating: "x", count: 101))
            var properties: [String: AnalyticsValue] = [:]
            for start in stride(from: 0, to: elements, by: 200) {
                let count = min(200, elements - start)
                properties["a\(1000 + start / 200)"] = .array(Array(repeating: text, count: count))
            }
            let pieces = rest == 0 ? 0 : rest / 150 + 1
            let letters = rest - 3 * pieces + 1
            properties["z"] = .array(
                (0..<pieces).map { piece in
                    let count = letters / pieces + (piece < letters % pieces ? 1 : 0)
                    return .string(String(repeating: "y", count: count))
                }
            )
            return .sample(properties: properties)
        }
        let elements = (limit - 2000) / 104 * 99 / 100
        let rest = limit + 1 - (try destination.size(of: record(elements, 0)))
        #expect(try destination.size(of: record(elements, rest)) - 1 == limit)
        #expect(refusal(of: record(elements, rest + 1), by: destination) == "tooLarge")
    }

    @Test("Amplitude and Google reject a record that no batch can hold")
    func largerThanABatch() throws {
        let text = AnalyticsValue.string(String(repeating: "x", count: 1024))
        let huge = AnalyticsRecord.sample(properties: [
            "a": .array(Array(repeating: text, count: 980))
        ])
        #expect(refusal(of: huge, by: try destination(.amplitude)) == "tooLarge")
        let items = AnalyticsValue.array(
            Array(
                repeating: .object(
                    Dictionary(
                        uniqueKeysWithValues: (0..<10).map {
                            ("p\($0)", .string(String(repeating: "x", count: 100)))
                        }
                    )
                ),
                count: 200
            )
        )
        let google = try destination(.googleAnalyticsWeb)
        #expect(refusal(of: .sample(properties: ["items": items]), by: google) == "tooLarge")
    }

    @Test("Identifiers that stand for nobody are rejected")
    func identifiers() throws {
        let expected: [(Vendor, [String], [String])] = [
            (.mixpanel, ["null", "Anonymous", "0", "-1", "n/a", "[]", ""], ["nobody", "00"]),
            (
                .postHog, ["guest", "Email", "'undefined'", "NaN", "None", " ", ""],
                ["nan", "NULL2"]
            ),
            (.amplitude, ["anonymous", "undefined", "1234"], ["12345", "user-1"]),
        ]
        for (vendor, refused, taken) in expected {
            let destination = try destination(vendor)
            for id in refused {
                let record = AnalyticsRecord.sample(userID: id)
                #expect(
                    refusal(of: record, by: destination) == "invalidIdentifier",
                    "\(vendor) \(id)"
                )
            }
            for id in taken {
                #expect(refusal(of: .sample(userID: id), by: destination) == nil, "\(vendor) \(id)")
            }
        }
        let long = AnalyticsRecord.sample(userID: String(repeating: "u", count: 201))
        #expect(refusal(of: long, by: try destination(.postHog)) == "invalidIdentifier")
        let longer = AnalyticsRecord.sample(userID: String(repeating: "u", count: 257))
        #expect(
            refusal(of: longer, by: try destination(.googleAnalyticsWeb)) == "invalidIdentifier"
        )
    }

    @Test("Amplitude is told to accept shorter identifiers")
    func minimumIDLength() async throws {
        let server = AnalyticsServerDouble.amplitude(apiKey: "key")
        let network = InProcessHTTPNetwork()
        var connection = DestinationConnection(transport: network.transport())
        // A busy machine must not cause a timeout.
        connection.timeout = .seconds(600)
        let patient = connection
        try await network.run(HTTPTestScript { await server.answer($0) }) { origin async throws in
            let host = try #require(URL(string: "http://\(origin.authority)"))
            let destination = AmplitudeDestination(
                apiKey: "key",
                connection: patient,
                host: host,
                minimumIDLength: 1
            )
            #expect(await destination.deliver([.sample(userID: "7")]) == .delivered)
            #expect(origin.requests[0].text.hasSuffix(#""options":{"min_id_length":1}}"#))
            #expect(server.events.map(\.subject) == ["7"])
        }
    }

    @Test("Reserved event names are rejected")
    func reservedNames() throws {
        for (vendor, names) in [
            (Vendor.amplitude, ["[Amplitude] Revenue", "$identify", "[Amplitude] Start Session"]),
            (.mixpanel, ["$identify", "$create_alias", "$merge"]),
            (.postHog, ["$identify", "$set", "$screen", "$create_alias"]),
        ] {
            let destination = try destination(vendor)
            for name in names {
                #expect(refusal(of: .sample(.event(name)), by: destination) == "reservedName")
            }
        }
        let destination = try destination(.amplitude)
        let long = AnalyticsRecord.sample(.event(String(repeating: "n", count: 1025)))
        #expect(refusal(of: long, by: destination) == "invalidName")
    }

    @Test("Mixpanel accepts fewer than 255 properties and elements, up to three levels deep")
    func mixpanelShapes() throws {
        let destination = try destination(.mixpanel)
        #expect(refusal(of: .sample(properties: properties(236)), by: destination) == nil)
        #expect(
            refusal(of: .sample(properties: properties(240)), by: destination)
                == "tooManyProperties"
        )
        let list = AnalyticsValue.array(Array(repeating: 1, count: 255))
        #expect(
            refusal(of: .sample(properties: ["a": list]), by: destination) == "tooManyProperties"
        )
        #expect(refusal(of: .sample(properties: ["a": nested(3)]), by: destination) == nil)
        #expect(refusal(of: .sample(properties: ["a": nested(4)]), by: destination) == "tooDeep")
    }

    @Test("Nesting of any depth is rejected without a crash", arguments: Vendor.allCases)
    func depth(_ vendor: Vendor) throws {
        let record = AnalyticsRecord.sample(properties: ["a": nested(500)])
        let reason = refusal(of: record, by: try destination(vendor))
        #expect(reason == (vendor.isGoogle ? "unsupportedValue" : "tooDeep"))
    }

    @Test("Texts are truncated at the vendor's limit, between characters")
    func cutting() async throws {
        let family = "👩‍👩‍👧‍👦"
        let text = String(repeating: "a", count: 250) + family
        for (vendor, limit) in [
            (Vendor.mixpanel, 255), (.amplitude, 1024), (.googleAnalyticsWeb, 100),
        ] {
            try await Scene.run(vendor) { scene async throws in
                let long = String(repeating: "é", count: limit + 1)
                #expect(
                    try await scene.deliver(.sample(properties: ["t": .string(long)])) == .delivered
                )
                #expect(scene.body.contains("\"" + String(repeating: "é", count: limit) + "\""))
            }
        }
        try await Scene.run(.mixpanel) { scene async throws in
            _ = try await scene.deliver(.sample(properties: ["t": .string(text)]))
            #expect(scene.body.contains("\"" + String(repeating: "a", count: 250) + "\""))
        }
    }
}

@Suite("Google's rules")
struct GoogleRuleTests {
    private let destination: any AnalyticsDestination

    init() throws {
        var connection = DestinationConnection(transport: ScriptedHTTPTransport())
        connection.now = { now }
        let host = try #require(URL(string: "https://vendor.test"))
        destination = Vendor.googleAnalyticsWeb.destination(at: host, over: connection)
    }

    private func refusal(_ record: AnalyticsRecord) -> String? {
        KeelAnalyticsHTTPTests.refusal(of: record, by: destination)
    }

    @Test(
        "An event's name has 1 to 40 letters, digits and underscores and is not reserved by Google"
    )
    func eventNames() {
        for name in ["a", "Purchase_2", String(repeating: "n", count: 40)] {
            #expect(refusal(.sample(.event(name))) == nil, "\(name)")
        }
        for name in ["1st", "_x", "with space", "é", "a-b", String(repeating: "n", count: 41)] {
            #expect(refusal(.sample(.event(name))) == "invalidName", "\(name)")
        }
        for name in ["ga_x", "google_x", "firebase_x", "session_start", "error", "first_open"] {
            #expect(refusal(.sample(.event(name))) == "reservedName", "\(name)")
        }
    }

    @Test("Parameters: 25 including Keel's own, flat, with valid names")
    func parameters() {
        func properties(_ count: Int) -> [String: AnalyticsValue] {
            Dictionary(
                uniqueKeysWithValues: (0..<count).map { ("p\($0)", AnalyticsValue.integer(1)) }
            )
        }
        // A session, the engagement time, the app version and the language take four.
        #expect(refusal(.sample(properties: properties(21))) == nil)
        #expect(refusal(.sample(properties: properties(22))) == "tooManyProperties")
        #expect(refusal(.sample(properties: ["a b": 1])) == "invalidName")
        for name in ["session_id", "engagement_time_msec", "ga_x"] {
            #expect(refusal(.sample(properties: [name: 1])) == "reservedName")
        }
        #expect(refusal(.sample(properties: ["a": [1]])) == "unsupportedValue")
        #expect(refusal(.sample(properties: ["a": ["b": 1]])) == "unsupportedValue")
        #expect(refusal(.sample(properties: ["items": [["item_id": "1"]]])) == nil)
        #expect(refusal(.sample(properties: ["items": [["x": [1]]]])) == "unsupportedValue")
        #expect(refusal(.sample(properties: ["items": ["1"]])) == "unsupportedValue")
    }

    @Test("User properties: 25, with names of 24 characters and texts of 36")
    func userProperties() async throws {
        @Sendable func record(_ userProperties: [String: AnalyticsValue]) -> AnalyticsRecord {
            .sample(.userProperties, properties: [:], userProperties: userProperties)
        }
        let many = Dictionary(
            uniqueKeysWithValues: (0..<26).map { ("p\($0)", AnalyticsValue.integer(1)) }
        )
        #expect(refusal(record(many)) == "tooManyProperties")
        #expect(refusal(record([String(repeating: "n", count: 25): 1])) == "invalidName")
        #expect(refusal(record(["user_id": 1])) == "reservedName")
        #expect(refusal(record(["a": [1]])) == "unsupportedValue")
        let long = AnalyticsValue.string(String(repeating: "v", count: 37))
        try await Scene.run(.googleAnalyticsWeb) { scene async throws in
            #expect(try await scene.deliver(record(["city": long])) == .delivered)
            #expect(scene.body.contains(#""value":"\#(String(repeating: "v", count: 36))""#))
            #expect(scene.server.events.count == 1)
        }
    }

    @Test("A record older than 72 hours is rejected, even if it ages while it waits")
    func age() async throws {
        var old = AnalyticsRecord.sample(number: 1)
        old.time = now.addingTimeInterval(-72 * 3600 - 1)
        #expect(refusal(old) == "tooOld")
        old.time = now.addingTimeInterval(-72 * 3600)
        #expect(refusal(old) == nil)
        old.time = now.addingTimeInterval(-72 * 3600 - 1)
        let aged = old
        try await Scene.run(.googleAnalyticsWeb) { scene async throws in
            let outcome = await scene.destination.deliver([
                .sample(number: 2), aged, .sample(number: 3),
            ])
            #expect(outcome.reasons == [1: "tooOld"])
            #expect(scene.server.events.count == 2)
            #expect(await scene.destination.deliver([aged]).reasons == [0: "tooOld"])
            #expect(scene.server.requests == 1, "nothing is left to send")
        }
    }

    @Test("A batch with several users is handed back before anything is sent")
    func severalUsers() async throws {
        try await Scene.run(.googleAnalyticsWeb) { scene async throws in
            let batch: [AnalyticsRecord] = [.sample(number: 1), .sample(number: 2, userID: nil)]
            #expect(try await scene.deliver(batch) == .unsent(fitting: 1))
            #expect(scene.server.requests == 0)
            for record in batch { #expect(try await scene.deliver(record) == .delivered) }
            #expect(scene.server.events.map(\.subject) == ["user-42", batch[1].anonymousID])
        }
    }
}
