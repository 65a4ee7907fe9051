#if os(Linux) || os(macOS)
import KeelConformance
import KeelStorage
import KeelStorageFirestore
import KeelTestSupport
import Testing

@Suite(
    "Random operations on Google\u{2019}s emulator",
    .enabled(if: FirestoreEmulator.isInstalled, "\(FirestoreEmulator.absence)"),
    .serialized,
    .timeLimit(.minutes(30)),
    EmulatorScope()
)
struct EmulatorFuzzTests {
    /// What the emulator of 2025 (528.0.0) does not have; `EmulatorConformanceTests` has its words for each.
    private static let omissions = Set(DifferentialFuzz.Omission.allCases)

    @Test("Random operations have the same results as in memory")
    func agrees() async throws {
        let fuzz = DifferentialFuzz(
            operations: TestLength.count(1_000, thorough: 20_000),
            omitting: Self.omissions
        )
        let summary = try await fuzz.run(InMemoryStorageAdapter(), against: EmulatorScope.adapter())
        #expect(summary.answeredReads > summary.reads / 4)
    }
}
#endif
