import Foundation
import KeelAnalytics
import KeelCore
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Analytics in memory, with an observer and with user properties")
struct InMemoryTests {
    let bench = Bench()
    let vendor = ScriptedAnalyticsDestination()

    @Test("An in-memory service tracks, delivers, forgets and accounts like one in a folder")
    func memory() async throws {
        var configuration = bench.configuration
        configuration.defaultConsent = .unknown
        configuration.journal.byteLimit = 64 << 10
        configuration.add(vendor)
        let service = try AnalyticsService.inMemory(configuration)
        for number in 0..<200 { service.trackEvent("a", parameters: ["number": .integer(number)]) }
        #expect(await service.flush())
        #expect(vendor.received.isEmpty)
        try service.grantConsent(for: .analytics)
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == Array(0..<200))
        try service.denyConsent(for: .analytics)
        #expect(service.trackEvent("b") == nil)
        let ledger = try #require(try service.ledgers()[vendor.name])
        #expect(ledger.accepted == 200 && ledger.isBalanced)
    }

    @Test("Two in-memory services are independent and can coexist")
    func apart() throws {
        let first = try AnalyticsService.inMemory(bench.configuration)
        let second = try AnalyticsService.inMemory(bench.configuration)
        first.setUserID("u1")
        #expect(second.userID == nil)
        #expect(first.anonymousID != second.anonymousID)
    }

    @Test("Events carry user properties across restarts until the user is forgotten")
    func userProperties() async throws {
        func service() throws -> AnalyticsService {
            try bench.service(vendor) { $0.attachesUserProperties = true }
        }
        do {
            let service = try service()
            service.trackEvent("a")
            service.trackUserProperty("plan", value: "gold")
            service.trackUserProperties(["age": 30, "plan": "silver", "password": "s3cret"])
        }
        let service = try service()
        service.trackEvent("b")
        service.reset()
        service.trackScreen("c")
        #expect(await service.flush())
        let carried = vendor.received.filter { $0.kind != .userProperties }.map(\.userProperties)
        #expect(carried.map(\.count) == [0, 3, 0])
        #expect(carried[1]["plan"] == "silver" && carried[1]["age"] == 30)
        #expect(carried[1]["password"] != "s3cret")
        let changes = vendor.received.filter { $0.kind == .userProperties }.map(\.userProperties)
        #expect(changes.first == ["plan": "gold"])
    }

    @Test("Events carry properties set before the user was known, and none of another user")
    func userPropertiesOfAnother() async throws {
        let service = try bench.service(vendor) { $0.attachesUserProperties = true }
        service.trackUserProperty("theme", value: "dark")
        service.setUserID("ann")
        service.trackEvent("a")
        service.setUserID("bob")
        service.trackEvent("b")
        #expect(await service.flush())
        let events = vendor.received.filter { [.event("a"), .event("b")].contains($0.kind) }
        #expect(events.map(\.userID) == ["ann", "bob"])
        #expect(events.map(\.userProperties) == [["theme": "dark"], [:]])
    }

    @Test("A user who signs out while properties are tracked leaves none to the next user")
    func userPropertiesAtSignOut() async throws {
        let holder = Mutex<AnalyticsService?>(nil)
        let service = try bench.service(vendor) { configuration in
            configuration.attachesUserProperties = true
            // Called after the record, when another thread may reset as well.
            configuration.observer = { observation in
                if observation == .tracked(.userProperties) { holder.withLock { $0 }?.reset() }
            }
        }
        holder.withLock { $0 = service }
        service.trackUserProperty("plan", value: "gold")
        service.trackEvent("of the next user")
        holder.withLock { $0 = nil }
        #expect(await service.flush())
        #expect(vendor.received.last?.userProperties == [:])
    }

    @Test("By default events carry no user properties, and none are written")
    func withoutUserProperties() async throws {
        let service = try bench.service(vendor)
        service.trackUserProperty("plan", value: "gold")
        service.trackEvent("a")
        #expect(await service.flush())
        #expect(vendor.received.last?.userProperties == [:])
        let file = try bench.files.open("/a/analytics.settings", for: .reading)
        let text = String(decoding: try file.read(at: 0, count: file.size()), as: UTF8.self)
        #expect(!text.contains("gold"))
    }

    @Test("An observer sees tracked, rejected and delivered events, without their values")
    func observed() async throws {
        let heard = Mutex<[AnalyticsObservation]>([])
        let service = try bench.service(vendor) { configuration in
            configuration.observer = { observation in heard.withLock { $0.append(observation) } }
        }
        service.trackEvent("opened", parameters: ["secret": "s3cret"])
        service.setUserID("u-17")
        service.trackEvent("mail ada@example.com")
        service.trackEvent("")
        #expect(await service.flush())
        let all = heard.withLock { $0 }
        #expect(all.prefix(2) == [.tracked(.event("opened")), .tracked(.identify)])
        #expect(all.contains(.refused(.invalidArgument)))
        guard case .delivered(let report)? = all.last
        else { return fail("The last is \(String(describing: all.last))") }
        #expect(report.recordCount == 3 && report.outcome == .delivered)
        let text = "\(all)"
        #expect(!text.contains("s3cret") && !text.contains("u-17") && !text.contains("ada@"))
    }
}
