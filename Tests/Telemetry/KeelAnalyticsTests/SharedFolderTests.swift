import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelAnalytics

@Suite("Two services on one folder", .timeLimit(.minutes(1)))
struct SharedFolderTests {
    let bench = Bench()
    let vendor = ScriptedAnalyticsDestination()

    private func service() throws -> AnalyticsService { try bench.service(vendor) }

    private func track(_ number: Int64, on service: AnalyticsService?) -> String? {
        service?.trackEvent("seen", parameters: ["number": .integer(number)])
    }

    @Test("Both track for one user, and the one that delivers sends all events once")
    func both() async throws {
        let first = try service()
        let second = try service()
        #expect(first.isDelivering && !second.isDelivering)
        for number in 0..<1_000 as Range<Int64> {
            #expect(track(number, on: number % 2 == 0 ? first : second) != nil)
        }
        #expect(await !second.flush())
        #expect(await first.flush())
        #expect(vendor.received.map(\.number).sorted() == Array(0..<1_000))
        #expect(first.anonymousID == second.anonymousID)
        let ledger = try #require(try first.ledgers()["scripted"])
        #expect(ledger.delivered == 1_000 && ledger.pending == 0 && ledger.isBalanced)
        #expect(try second.unconfiguredDestinations().isEmpty)
    }

    @Test("Services that open a new folder at the same time have one user")
    func opensAtOnce() throws {
        let others = Mutex<[AnalyticsService]>([])
        bench.files.fail { [bench, vendor] call in
            // The other one opens when this one has seen that there are no settings.
            if call == .lock("/a/analytics.settings.lock"), others.withLock({ $0.isEmpty }) {
                bench.files.fail(nil)
                if let other = try? bench.service(vendor) { others.withLock { $0.append(other) } }
            }
            return nil
        }
        let service = try service()
        let other = try #require(others.withLock { $0.first })
        #expect(other.isDelivering && !service.isDelivering)
        #expect(service.anonymousID == other.anonymousID)
    }

    @Test("A flush of the second service delivers once the first has ended")
    func takesOver() async throws {
        var first: AnalyticsService? = try service()
        let second = try service()
        #expect(track(0, on: first) != nil)
        #expect(track(1, on: second) != nil)
        first = nil
        #expect(await second.flush())
        #expect(Set(vendor.received.map(\.number)) == [0, 1])
        #expect(second.isDelivering)
        second.setUserID("u-1")
        #expect(second.userID == "u-1")
    }

    @Test("A second service that runs waits for the end of the first")
    func waits() async throws {
        var first: AnalyticsService? = try service()
        let second = try service()
        let running = Task { await second.run() }
        #expect(track(0, on: first) != nil)
        await bench.clock.waitForSleepers()
        #expect(vendor.callCount == 0)
        first = nil
        await bench.clock.advance(by: .seconds(30))
        try await waitUntil { vendor.received.count == 1 }
        running.cancel()
        await running.value
    }

    @Test("The service that delivers notices the events of one that began to track later")
    func noticesLater() async throws {
        let first = try service()
        let running = Task { await first.run() }
        #expect(track(0, on: first) != nil)
        try await waitForDelivery(of: 1, by: first)
        let second = try service()
        #expect(track(1, on: second) != nil)
        #expect(track(2, on: first) != nil)
        try await waitForDelivery(of: 3, by: first)
        #expect(track(3, on: second) != nil)
        try await waitForDelivery(of: 4, by: first)
        running.cancel()
        await running.value
    }

    private func waitForDelivery(of count: Int, by service: AnalyticsService) async throws {
        try await waitUntil {
            await bench.clock.advance(by: .seconds(1))
            return vendor.received.count == count
                && service.status.destinations["scripted"]?.activity == .idle
        }
    }

    @Test("A second service that cannot take over reports the reason")
    func reportsWhyItWaits() async throws {
        var first: AnalyticsService? = try service()
        let second = try service()
        #expect(track(0, on: first) != nil)
        #expect(await !second.flush())
        #expect(second.status.deliveryProblem == nil)
        first = nil
        bench.files.fail { call in
            if case .lock = call { FileSystemError.notPermitted } else { nil }
        }
        #expect(await !second.flush())
        #expect(second.status.deliveryProblem == .permissionDenied)
        bench.files.fail(nil)
        #expect(await second.flush())
        #expect(second.status.deliveryProblem == nil)
    }

    @Test("The user and the decisions of the first service hold in the second at once")
    func follows() throws {
        let first = try service()
        let second = try service()
        first.setUserID("u-1")
        #expect(second.userID == "u-1")
        try first.denyConsent(for: .analytics)
        #expect(track(0, on: second) == nil)
        #expect(second.consent(for: .analytics) == .denied)
        try first.grantConsent(for: .analytics)
        #expect(track(1, on: second) != nil)
        second.setUserID("u-2")
        #expect(second.userID == "u-1")
        #expect(second.status.settingsProblem == .inUse)
    }

    @Test("A second service keeps its session when the first stores an older one, until a reset")
    func keepsItsSession() async throws {
        let first = try service()
        let second = try service()
        #expect(track(0, on: first) != nil)
        bench.time.advance(by: .seconds(3_600))
        #expect(track(1, on: second) != nil)
        first.setSuperProperties(["theme": "dark"])
        bench.time.advance(by: .seconds(60))
        #expect(track(2, on: second) != nil)
        first.reset()
        #expect(track(3, on: second) != nil)
        #expect(await first.flush())
        let records = vendor.received.sorted { $0.number < $1.number }
        let sessions = records.compactMap(\.session?.id)
        #expect(sessions.count == 4)
        #expect(Set(sessions).count == 3)
        #expect(sessions[1] == sessions[2])
    }

    @Test("A service takes over only once it can read what the earlier one has decided")
    func readsBeforeItLeads() async throws {
        var first: AnalyticsService? = try service()
        let second = try service()
        #expect(track(0, on: second) != nil)
        try first?.denyConsent(for: .analytics)
        first = nil
        bench.files.fail {
            $0 == .read("/a/analytics.settings") ? FileSystemError.inputOutput : nil
        }
        #expect(await !second.flush())
        #expect(!second.isDelivering)
        bench.files.fail(nil)
        #expect(await second.flush())
        #expect(second.consent(for: .analytics) == .denied)
        #expect(vendor.callCount == 0)
    }

    @Test("A service that takes over treats decisions in a damaged file as unknown")
    func takesOverDamagedSettings() async throws {
        var first: AnalyticsService? = try service()
        let second = try service()
        #expect(second.consent(for: .analytics) != .unknown)
        first?.setUserID("u-1")
        first = nil
        bench.files.disk["/a/analytics.settings"] = [1, 2, 3]
        #expect(await second.flush())
        #expect(second.consent(for: .analytics) == .unknown)
        #expect(second.status.hasLostSettings)
    }

    @Test("A denial in the second service applies there, and everywhere once it takes over")
    func denies() async throws {
        var first: AnalyticsService? = try service()
        let second = try service()
        #expect(track(0, on: second) != nil)
        let error = #expect(throws: AnalyticsError.self) { try second.denyConsent(for: .analytics) }
        #expect(error?.code == .inUse)
        #expect(track(1, on: second) == nil)
        #expect(track(2, on: first) != nil)
        first = nil
        #expect(await second.flush())
        #expect(vendor.callCount == 0)
        let inspection = try AnalyticsInspection(of: "/a", sealing: nil, files: bench.files)
        #expect(inspection.consents == [.analytics: .denied])
    }

    @Test("What a second service was writing during a denial is removed at the next launch")
    func removesLater() throws {
        func isOnDisk(_ text: String) -> Bool {
            bench.files.disk.paths.values.contains { file in
                (bench.files.disk.contents[file] ?? []).contains(Array(text.utf8))
            }
        }
        var first: AnalyticsService? = try service()
        var second: AnalyticsService? = try service()
        #expect(second?.trackEvent("confidential") != nil)
        try first?.denyConsent(for: .analytics)
        // The second service has the segment open, and ends without another call.
        #expect(isOnDisk("confidential"))
        second = nil
        first = nil
        let third = try service()
        #expect(third.isDelivering && third.consent(for: .analytics) == .denied)
        #expect(!isOnDisk("confidential"))
        #expect(third.tracker.settings.unfinishedDenials.isEmpty)
    }
}
