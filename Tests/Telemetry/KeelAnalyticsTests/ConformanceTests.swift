import Foundation
import KeelAnalytics
import KeelConformance
import KeelTestKit
import Testing

@Suite("Promises of destinations")
struct ConformanceTests {
    private static func subject(
        _ decorate: @escaping @Sendable (ScriptedAnalyticsDestination) -> any AnalyticsDestination
    ) -> AnalyticsDestinationSubject {
        AnalyticsDestinationSubject(conditions: Set(AnalyticsDestinationSubject.Condition.allCases))
        { condition in
            let fault: AnalyticsFault? =
                switch condition {
                case .healthy: nil
                case .unavailable: .unavailable()
                case .busy: .unavailable(notBefore: .seconds(30))
                case .losingReplies: .lostReply
                case .refusingSize: .tooLarge
                case .refusingKey: .misconfigured
                case .hanging: .delay(.seconds(3600))
                }
            let vendor = ScriptedAnalyticsDestination(
                limits: BatchLimits(records: 100, bytes: 8000),
                clock: TestClock(),
                faults: [fault]
            )
            return .init(decorate(vendor)) { vendor.received.map(\.id) }
        }
    }

    @Test("The scripted destination keeps its promises", arguments: AnalyticsDestinationCheck.all)
    func scripted(_ check: AnalyticsDestinationCheck) async throws {
        try await check.run(on: Self.subject { $0 })
    }

    @Test("Decorated destinations keep their promises", arguments: AnalyticsDestinationCheck.all)
    func decorated(_ check: AnalyticsDestinationCheck) async throws {
        try await check.run(on: Self.subject { $0.failing([]).recorded().observed { _ in } })
    }

    @Test("A destination that takes a canceled request for a refused key is detected")
    func misjudgesCancellation() async throws {
        let subject = AnalyticsDestinationSubject(conditions: [.healthy, .hanging]) { _ in
            let vendor = ScriptedAnalyticsDestination(faults: [.misconfigured])
            return .init(vendor) { vendor.received.map(\.id) }
        }
        let check = try #require(AnalyticsDestinationCheck.all.first { $0.condition == .hanging })
        #expect(try await recordsIssue { try await check.run(on: subject) })
    }

    @Test("Decorators record calls, inject faults and report outcomes")
    func decorators() async {
        let reports = Lines()
        let vendor = ScriptedAnalyticsDestination()
        let recorded = vendor.failing([.lostReply, .unavailable()]).recorded()
        let destination = recorded.observed { reports.add("\($0.recordCount) \($0.outcome)") }
        let record = AnalyticsRecord(id: "1", kind: .identify, time: .distantPast, anonymousID: "a")
        for _ in 0..<3 { _ = await destination.deliver([record]) }
        #expect(recorded.callCount == 3 && recorded.lastBatch == [record])
        #expect(reports.all.count == 3 && reports.all.last?.contains("settled") == true)
        #expect(vendor.received.count == 1 && vendor.repeatedCount == 1)
    }
}
