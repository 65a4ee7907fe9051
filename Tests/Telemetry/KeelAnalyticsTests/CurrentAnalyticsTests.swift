import KeelAnalytics
import KeelTestKit
import Testing

@Suite("The current task's analytics service")
struct CurrentAnalyticsTests {
    let bench = Bench()
    let vendor = ScriptedAnalyticsDestination()

    struct Opened: TypedAnalyticsEvent {
        static let name = "opened"
        var count: Int
    }

    @Test("Free functions track to the task's service, also in tasks started inside")
    func tracks() async throws {
        let service = try bench.service(vendor)
        let ids = await withAnalytics(service) {
            let first = trackEvent("a", parameters: ["number": 1])
            let second = trackScreen("b")
            let third = await Task { trackEvent(Opened(count: 2)) }.value
            return [first, second, third]
        }
        #expect(await service.flush())
        #expect(vendor.received.map(\.id) == ids.compactMap { $0 })
        #expect(vendor.received.map(\.kind) == [.event("a"), .screen("b"), .event("opened")])
        #expect(vendor.received.last?.properties == ["count": 2])
    }

    @Test("Free functions do nothing without a service")
    func nothing() throws {
        #expect(AnalyticsService.current.map(\.anonymousID) == nil)
        #expect(trackEvent("a") == nil)
        #expect(trackEvent(Opened(count: 1)) == nil)
        #expect(trackScreen("b") == nil)
        let service = try bench.service(vendor)
        withAnalytics(service) {
            #expect(withAnalytics(nil) { trackEvent("c") } == nil)
            #expect(trackEvent("d") != nil)
        }
        #expect(AnalyticsService.current.map(\.anonymousID) == nil)
    }

    @Test("An operation's error keeps its type")
    func throwing() async throws {
        struct Failure: Error, Equatable {}
        let service = try bench.service(vendor)
        #expect(throws: Failure.self) {
            try withAnalytics(service) { () throws(Failure) in throw Failure() }
        }
        await #expect(throws: Failure.self) {
            try await withAnalytics(service) { () async throws(Failure) in throw Failure() }
        }
    }
}
