import KeelCore
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelAnalytics

@Suite("Events whose key is lost or absent")
struct LostKeyTests {
    let bench = Bench()
    let vendor = ScriptedAnalyticsDestination()

    private func service(_ sealing: any ByteSealing) throws -> AnalyticsService {
        try bench.service(vendor) {
            $0.defaultConsent = .unknown
            $0.journal.sealing = sealing
        }
    }

    private func track(_ numbers: Range<Int64>, under sealing: any ByteSealing) throws {
        let service = try service(sealing)
        for number in numbers {
            service.trackEvent("seen", parameters: ["number": .integer(number)])
        }
    }

    @Test("Events under a lost key are counted, and hold up no others")
    func lost() async throws {
        try track(0..<3, under: FakeByteSealing(key: 1))
        try track(3..<6, under: FakeByteSealing(key: 2, former: [1]))
        let service = try service(FakeByteSealing(key: 2))
        try service.grantConsent(for: .analytics)
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == [3, 4, 5])
        let ledger = try #require(try service.ledgers()["scripted"])
        #expect(ledger.delivered == 3 && ledger.rejected == ["damaged": 3])
        #expect(ledger.pending == 0 && ledger.isBalanced)
    }

    @Test("Events wait while all keys are absent")
    func absent() async throws {
        let sealing = RefusingByteSealing()
        try track(0..<3, under: sealing)
        let service = try service(sealing)
        try service.grantConsent(for: .analytics)
        sealing.isAbsent = true
        #expect(await !service.flush())
        sealing.isAbsent = false
        #expect(await service.flush())
        #expect(vendor.received.map(\.number) == [0, 1, 2])
    }

    @Test("A denial of events under a lost key ends, and the service opens again")
    func denied() throws {
        try track(0..<3, under: FakeByteSealing(key: 1))
        do {
            let service = try service(FakeByteSealing(key: 2))
            try service.denyConsent(for: .analytics)
        }
        let service = try service(FakeByteSealing(key: 2))
        #expect(service.consent(for: .analytics) == .denied)
        #expect(service.status.removalProblem == nil)
    }

    @Test("A service opens although a denial cannot be finished, and says so")
    func unfinished() async throws {
        let sealing = RefusingByteSealing()
        try track(0..<3, under: sealing)
        do {
            let service = try service(sealing)
            sealing.isAbsent = true
            #expect(throws: AnalyticsError.self) { try service.denyConsent(for: .analytics) }
        }
        do {
            let service = try service(sealing)
            #expect(service.status.removalProblem != nil)
            #expect(service.consent(for: .analytics) == .denied)
        }
        sealing.isAbsent = false
        let service = try service(sealing)
        #expect(service.status.removalProblem == nil)
        #expect(await service.flush())
        #expect(vendor.callCount == 0)
        #expect(try service.ledgers()["scripted"]?.purged == 3)
    }
}
