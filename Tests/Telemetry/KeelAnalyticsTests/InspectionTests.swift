import KeelAnalytics
import KeelCore
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Inspection of analytics from outside")
struct AnalyticsInspectionTests {
    let bench = Bench()

    private func inspection() throws -> AnalyticsInspection {
        try AnalyticsInspection(of: "/a", sealing: nil, files: bench.files)
    }

    @Test("Inspecting a folder without analytics throws and creates nothing")
    func nothing() throws {
        expectError(AnalyticsError.self, .notFound) { try inspection() }
        #expect(try bench.files.size(of: "/a") == nil)
    }

    @Test("Inspection reports decisions and ledgers while the app runs, and changes nothing")
    func ledgers() async throws {
        let good = ScriptedAnalyticsDestination("good")
        let bad = ScriptedAnalyticsDestination("bad", faults: [.unavailable()])
        let service = try bench.service(good, bad)
        try service.grantConsent(for: .analytics)
        try service.denyConsent(for: .marketing)
        for number in 0..<5 { service.trackEvent("seen", parameters: ["number": .integer(number)]) }
        _ = await service.flush()
        let before = bench.files.disk.contents
        let inspection = try inspection()
        #expect(inspection.consents == [.analytics: .granted, .marketing: .denied])
        #expect(!inspection.hasLostSettings)
        let ledgers = try inspection.ledgers()
        #expect(ledgers == (try service.ledgers()))
        #expect(ledgers["good"]?.delivered == 5 && ledgers["bad"]?.pending == 5)
        var reader = try inspection.reader(pendingFor: "bad")
        #expect(try reader.read(upTo: 2).map(\.number) == [0, 1])
        #expect(try reader.read(upTo: 9).map(\.number) == [2, 3, 4])
        #expect(try reader.read(upTo: 9) == [])
        var nobody = try inspection.reader(pendingFor: "good")
        #expect(try nobody.read(upTo: 9) == [])
        #expect(try inspection.byteCount() > 0)
        #expect(bench.files.disk.contents == before)
    }

    @Test("Records that this version does not understand are counted and skipped")
    func undecodable() throws {
        let vendor = ScriptedAnalyticsDestination()
        let service = try bench.service(vendor)
        service.trackEvent("before")
        do {
            let journal = try Journal(
                at: "/a/journal",
                configuration: JournalConfiguration(),
                files: bench.files
            )
            try journal.append([1, 2, 3])
        }
        var reader = try inspection().reader()
        #expect(try reader.read(upTo: 1).compactMap(\.name) == ["before"])
        #expect(try reader.read(upTo: 1) == [])
        #expect(reader.skippedRecordCount == 1)
    }
}
