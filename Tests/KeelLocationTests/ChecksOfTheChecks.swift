import KeelConformance
import KeelLocation
import Synchronization
import Testing

@Suite("The checks notice a source of positions that breaks a promise", .timeLimit(.minutes(5)))
struct ChecksOfTheChecks {
    @Test(arguments: BrokenLocationAdapter.Fault.allCases)
    func notices(_ fault: BrokenLocationAdapter.Fault) async throws {
        var caught: [String] = []
        let all = LocationAdapterCheck.applicable(to: ConformanceTests.scripted)
            .filter { $0.group == fault.group }
        for check in all {
            let found = Found()
            try await withKnownIssue(isIntermittent: true) {
                try await check.run(
                    on: ConformanceTests.subject(limit: .milliseconds(300)) {
                        BrokenLocationAdapter(fault, $0)
                    }
                )
            } matching: { _ in
                found.isAny.withLock { $0 = true }
                return true
            }
            if found.isAny.withLock({ $0 }) { caught.append(check.testDescription) }
        }
        #expect(!caught.isEmpty, "no check noticed a source that \(fault.rawValue)")
        // A group that fails as a whole says nothing about the fault.
        let isWhole = fault == .tellsOnlyFirst || fault == .hidesBreak
        #expect(caught.count < all.count || isWhole, "\(caught)")
    }

    /// Whether a check has recorded an issue, from any task.
    private final class Found: Sendable {
        let isAny = Mutex(false)
    }
}
