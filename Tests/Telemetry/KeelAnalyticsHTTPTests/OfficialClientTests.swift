#if TestServer
import Foundation
import KeelAnalytics
import KeelAnalyticsHTTP
import KeelTestKit
import Testing

@Suite(
    "The vendors' own Python clients",
    .enabled(if: OfficialClient.isPresent, OfficialClient.absence)
)
struct OfficialClientTests {
    /// The data sent by a vendor's client, and by Keel for the same events.
    struct Comparison: Sendable, CustomTestStringConvertible {
        let vendor: Vendor
        let script: String
        let names: [String]
        /// Keel's records, whose events have the same names.
        let records: [AnalyticsRecord]
        /// Fields that only the client sends, and why Keel does not.
        var onlyTheirs: [String: String] = [:]

        var testDescription: String { script }
    }

    static let comparisons = [
        Comparison(
            vendor: .segment,
            script: "segment",
            names: ["signed_up", "Home", "identify"],
            records: [
                .sample(), .sample(.screen("Home"), number: 2),
                .sample(.identify, number: 3, properties: [:], userProperties: ["city": "Bern"]),
            ]
        ),
        Comparison(
            vendor: .mixpanel,
            script: "mixpanel",
            names: ["signed_up", "imported", "$engage"],
            records: [
                .sample(), .sample(.event("imported"), number: 2),
                .sample(
                    .userProperties,
                    number: 3,
                    properties: [:],
                    userProperties: ["city": "Bern"]
                ),
            ],
            onlyTheirs: ["properties.token": "the token is in the Authorization field"]
        ),
        Comparison(
            vendor: .amplitude,
            script: "amplitude",
            names: ["signed_up", "$identify"],
            records: [
                .sample(),
                .sample(
                    .userProperties,
                    number: 2,
                    properties: [:],
                    userProperties: ["city": "Bern"]
                ),
            ]
        ),
        Comparison(
            vendor: .postHog,
            script: "posthog",
            names: ["signed_up", "$screen", "$identify", "$set"],
            records: [
                .sample(), .sample(.screen("Home"), number: 2),
                .sample(.identify, number: 3, properties: [:], userProperties: ["city": "Bern"]),
                .sample(
                    .userProperties,
                    number: 4,
                    properties: [:],
                    userProperties: ["city": "Bern"]
                ),
            ],
            onlyTheirs: [
                "properties.$python_runtime": "its language", "properties.$is_server": "a server",
                "properties.$python_version": "its language",
                "properties.$os": "Keel says $os_name, as PostHog's mobile libraries do",
                "properties.$os_distro": "Linux only",
                "properties.$geoip_disable": "a server's place says nothing, a device's does",
                "$set": "stands in properties, where PostHog reads it as well",
                "$set.city": "stands in properties, where PostHog reads it as well",
            ]
        ),
    ]

    @Test("The double accepts their events", arguments: comparisons)
    func accepted(_ comparison: Comparison) async throws {
        let server = double(for: comparison.vendor)
        let run = try await OfficialClient.send(comparison.script, key: Vendor.secret, to: server)
        #expect(run.exitCode == 0, "\(run.output)")
        #expect(server.refusals.isEmpty, "\(server.refusals)")
        #expect(Set(server.events.map(\.name)) == Set(comparison.names))
        #expect(server.events.count == comparison.names.count)
    }

    @Test("With a wrong key, none of their events is accepted", arguments: comparisons)
    func wrongKey(_ comparison: Comparison) async throws {
        let server = double(for: comparison.vendor)
        _ = try await OfficialClient.send(comparison.script, key: "another-key", to: server)
        #expect(server.requests > 0)
        #expect(server.events.isEmpty)
    }

    @Test("Keel sends every field that they send", arguments: comparisons)
    func fields(_ comparison: Comparison) async throws {
        let server = double(for: comparison.vendor)
        _ = try await OfficialClient.send(comparison.script, key: Vendor.secret, to: server)
        try await Scene.run(comparison.vendor) { scene async throws in
            #expect(try await scene.deliver(comparison.records) == .delivered)
            for theirs in server.events {
                let ours = try #require(scene.server.events.first { $0.name == theirs.name })
                let missing = try Self.fields(of: theirs.json)
                    .subtracting(try Self.fields(of: ours.json))
                    .subtracting(comparison.onlyTheirs.keys)
                #expect(missing.isEmpty, "\(theirs.name)")
            }
        }
    }

    /// The double with the machine's clock, which the clients use.
    private func double(for vendor: Vendor) -> AnalyticsServerDouble {
        vendor == .mixpanel
            ? .mixpanel(token: Vendor.secret, secret: Vendor.secret) : vendor.double
    }

    /// The paths of all members that are not null, including empty objects.
    private static func fields(of json: String) throws -> Set<String> {
        func walk(_ value: Any, _ path: String, _ found: inout Set<String>) {
            guard let members = value as? [String: Any] else { return }
            for (name, member) in members where !(member is NSNull) {
                let place = path.isEmpty ? name : "\(path).\(name)"
                found.insert(place)
                walk(member, place, &found)
            }
        }
        var found: Set<String> = []
        walk(try JSONSerialization.jsonObject(with: Data(json.utf8)), "", &found)
        return found
    }
}
#endif
