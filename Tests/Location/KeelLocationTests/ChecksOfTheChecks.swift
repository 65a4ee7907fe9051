import KeelConformance
import KeelLocation
import Testing

@Suite("The checks detect a location source that breaks a promise", .timeLimit(.minutes(5)))
struct ChecksOfTheChecks {
    @Test(arguments: BrokenLocationAdapter.Fault.allCases)
    func notices(_ fault: BrokenLocationAdapter.Fault) async throws {
        let all = LocationAdapterCheck.applicable(to: ConformanceTests.scripted)
            .filter { $0.group == fault.group }
        var caught = try await failures(of: all, fault, limit: .milliseconds(300))
        #expect(!caught.isEmpty, "no check noticed a source that \(fault.rawValue)")
        // A group that fails entirely says nothing about the fault.
        if fault == .tellsOnlyFirst || fault == .hidesBreak { return }
        if caught.count == all.count {
            // On a busy machine, events may be late.
            caught = try await failures(of: all, fault, limit: .seconds(30))
        }
        #expect(caught.count < all.count, "\(caught)")
    }

    /// The checks that a faulty source fails, with a limit for expected events.
    private func failures(
        of checks: [LocationAdapterCheck],
        _ fault: BrokenLocationAdapter.Fault,
        limit: Duration
    ) async throws -> [String] {
        var caught: [String] = []
        for check in checks {
            let isCaught = try await recordsIssue {
                try await check.run(
                    on: ConformanceTests.subject(limit: limit) { BrokenLocationAdapter(fault, $0) }
                )
            }
            if isCaught { caught.append(check.testDescription) }
        }
        return caught
    }
}
