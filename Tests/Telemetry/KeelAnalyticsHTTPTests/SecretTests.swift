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

@Suite("Keys stay secret")
struct SecretTests {
    @Test(
        "No description, mirror or dump of a destination contains its key",
        arguments: Vendor.allCases
    )
    func descriptions(_ vendor: Vendor) throws {
        let connection = DestinationConnection(transport: ScriptedHTTPTransport())
        let host = try #require(URL(string: "https://vendor.test"))
        let destination = vendor.destination(at: host, over: connection)
        var dumped = ""
        dump(destination, to: &dumped)
        for text in ["\(destination)", String(reflecting: destination), dumped] {
            #expect(!text.contains(Vendor.secret))
        }
        #expect(dumped.contains(destination.name), "the dump shows something")
    }

    @Test("No outcome contains the key, whatever fails", arguments: Vendor.allCases)
    func outcomes(_ vendor: Vendor) async throws {
        for fault: AnalyticsServerDouble.Fault in [
            .status(400), .status(401), .status(413), .status(429), .status(503), .lostReply,
            .lostRequest, .body("not JSON"), .body(#"{"status":0}"#),
        ] {
            try await Scene.run(vendor) { scene async throws in
                scene.server.enqueue(fault)
                let outcome = try await scene.deliver(.sample())
                var dumped = ""
                dump(outcome, to: &dumped)
                #expect(!dumped.contains(Vendor.secret))
                #expect(!dumped.contains("user-42"))
            }
        }
    }

    @Test("A rejection names the rule and never a property's value")
    func refusals() throws {
        let connection = DestinationConnection(transport: ScriptedHTTPTransport())
        let host = try #require(URL(string: "https://vendor.test"))
        var source = RandomRecords(seed: 99)
        let value = "the-value-of-a-property"
        for _ in 0..<200 {
            var record = source.next()
            record.properties["nested"] = .array([.string(value), .object(["a": .string(value)])])
            record.userID = Bool.random(using: &source.random) ? "null" : "anonymous"
            for vendor in Vendor.allCases {
                do throws(AnalyticsRejection) {
                    _ = try vendor.destination(at: host, over: connection).size(of: record)
                } catch {
                    #expect(!error.description.contains(value))
                }
            }
        }
    }
}
