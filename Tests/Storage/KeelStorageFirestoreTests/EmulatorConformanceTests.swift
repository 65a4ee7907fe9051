#if os(Linux) || os(macOS)
import KeelConformance
import KeelStorage
import KeelStorageFirestore
import KeelTestSupport
import Testing

/// The adapter against Google's emulator, the only peer that Keel does not contain.
@Suite(
    "Storage conformance against Google\u{2019}s emulator",
    .enabled(if: FirestoreEmulator.isInstalled, "\(FirestoreEmulator.absence)"),
    .serialized,
    .timeLimit(.minutes(30)),
    EmulatorScope()
)
struct EmulatorConformanceTests {
    @Test(
        "Google\u{2019}s emulator",
        arguments: StorageAdapterCheck.applicable(
            to: FirestoreStorageAdapter.Configuration.allGoogleCapabilities
        )
    )
    func keeps(_ check: StorageAdapterCheck) async throws {
        let adapter = try EmulatorScope.adapter()
        let promise = check.testDescription
        let occasional = EmulatorDifferences.occasional[promise]
        guard let difference = EmulatorDifferences.lasting[promise] ?? occasional else {
            return try await check.run(on: adapter)
        }
        await withKnownIssue("\(difference.reason)", isIntermittent: occasional != nil) {
            try await check.run(on: adapter)
        }
    }
}

@Suite(
    "Random operations on Google\u{2019}s emulator",
    .enabled(if: FirestoreEmulator.isInstalled, "\(FirestoreEmulator.absence)"),
    .serialized,
    .timeLimit(.minutes(30)),
    EmulatorScope()
)
struct EmulatorFuzzTests {
    private static let omissions = Set(EmulatorDifferences.omissions.keys)

    /// Seeds of runs that agree; a thorough run has 20,000 operations.
    private static let seeds: [UInt64] = TestLength.isThorough ? Array(1...20) : [12, 13]

    @Test("Random operations have the same results as in memory", arguments: seeds)
    func agrees(seed: UInt64) async throws {
        let fuzz = DifferentialFuzz(seed: seed, operations: 1_000, omitting: Self.omissions)
        let summary = try await fuzz.run(InMemoryStorageAdapter(), against: EmulatorScope.adapter())
        #expect(summary.answeredReads > summary.reads / 4)
    }
}
#endif
