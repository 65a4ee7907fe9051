import Foundation
import KeelAnalytics
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Records")
struct RecordTests {
    let bench = Bench()
    let vendor = ScriptedAnalyticsDestination()

    @Test("A tracked event arrives complete, with its time, user, session and context")
    func whole() async throws {
        let service = try bench.service(vendor) { configuration in
            configuration.context.appVersion = "2.1.0"
            configuration.context.locale = "de-CH"
        }
        let parameters: [String: AnalyticsValue] = [
            "null": nil, "yes": true, "count": 3, "price": 31.5, "text": "é 日本 \"q\"",
            "date": .date(Date(timeIntervalSince1970: 1.5)), "list": [1, "a", [nil]],
            "object": ["a": ["b": -1]], "low": .integer(.min), "high": .integer(.max),
        ]
        let id = service.trackEvent("order", parameters: parameters)
        #expect(await service.flush())
        let record = try #require(vendor.received.first)
        #expect(record.id == id)
        #expect(record.kind == .event("order"))
        #expect(record.properties == parameters)
        #expect(record.time == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(record.anonymousID == service.anonymousID)
        #expect(record.userID == nil)
        #expect(record.session != nil)
        #expect(record.context.appVersion == "2.1.0")
        #expect(record.context.locale == "de-CH")
        #expect(record.purpose == .analytics)
    }

    @Test("Ids are version 7 UUIDs that grow, even within a millisecond and if the clock goes back")
    func identifiers() async throws {
        let service = try bench.service(vendor)
        var ids: [String] = []
        for number in 0..<5000 {
            if number == 2500 { bench.time.advance(by: .milliseconds(-1000)) }
            ids.append(try #require(service.trackEvent("a")))
        }
        #expect(ids == ids.sorted())
        #expect(Set(ids).count == ids.count)
        for id in ids.prefix(50) {
            #expect(UUID(uuidString: id)?.uuidString.lowercased() == id)
            #expect(id[id.index(id.startIndex, offsetBy: 14)] == "7")
            #expect("89ab".contains(id[id.index(id.startIndex, offsetBy: 19)]))
        }
        let milliseconds = try #require(UInt64(ids[0].filter { $0 != "-" }.prefix(12), radix: 16))
        #expect(milliseconds == 1_700_000_000_000)
    }

    @Test("Screens, user properties and typed events have the right kinds")
    func kinds() async throws {
        struct Placed: TypedAnalyticsEvent {
            static let name = "placed"
            static let purpose = ConsentPurpose.performance
            var items: Int
            var code: String?
            var size: [UInt8] = [1, 2]
            var at = Date(timeIntervalSince1970: 5)
            var inner = Inner()
            var total = Decimal(sign: .plus, exponent: -2, significand: 3_150)
            struct Inner: Encodable { var ratio: Float = 0.5 }
        }
        let service = try bench.service(vendor)
        service.trackScreen("Home", parameters: ["tab": 1])
        service.trackScreen(AnalyticsScreen(name: "About"))
        service.trackUserProperty("plan", value: "gold")
        service.trackEvent(Placed(items: 2))
        service.trackEvent(
            AnalyticsEvent(name: "past", timestamp: Date(timeIntervalSince1970: 1.25))
        )
        #expect(await service.flush())
        let records = vendor.received
        #expect(
            records.map(\.kind) == [
                .screen("Home"), .screen("About"), .userProperties, .event("placed"),
                .event("past"),
            ]
        )
        #expect(records[2].userProperties == ["plan": "gold"])
        #expect(
            records[3].properties == [
                "items": 2, "size": [1, 2], "at": .date(Date(timeIntervalSince1970: 5)),
                "inner": ["ratio": 0.5], "total": 31.5,
            ]
        )
        #expect(records[3].purpose == .performance)
        #expect(records[4].time == Date(timeIntervalSince1970: 1.25))
    }

    @Test("A typed event that is not an object is rejected and counted")
    func notAnObject() throws {
        struct Bare: TypedAnalyticsEvent {
            static let name = "bare"
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(1)
            }
        }
        let service = try bench.service(vendor)
        #expect(service.trackEvent(Bare()) == nil)
        #expect(service.status.refused == ["invalidArgument": 1])
    }

    @Test("A record damaged on disk is rejected, and its neighbors are delivered")
    func damaged() async throws {
        do {
            let service = try bench.service(vendor)
            for number in 0..<5 {
                service.trackEvent("a", parameters: ["number": .integer(number)])
            }
        }
        let path = "/a/journal/0000000000000001.journal"
        var bytes = try #require(bench.files.disk[path])
        let size = (bytes.count - 40) / 5
        bytes[40 + 2 * size + 30] ^= 0x55
        bench.files.disk[path] = bytes
        let service = try bench.service(vendor)
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == [0, 1, 3, 4])
        let ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.rejected == ["damaged": 1])
        #expect(ledger.accepted == 5)
        #expect(ledger.isBalanced)
    }

    @Test("Values nested too deeply become null, and the event is delivered")
    func nesting() async throws {
        var value: AnalyticsValue = 1
        for _ in 0..<200 { value = [value] }
        let service = try bench.service(vendor)
        #expect(service.trackEvent("deep", parameters: ["value": value]) != nil)
        #expect(await service.flush())
        #expect(vendor.received.count == 1)
    }
}

extension AnalyticsValue {
    static func integer(_ value: Int) -> AnalyticsValue { .integer(Int64(value)) }
}
