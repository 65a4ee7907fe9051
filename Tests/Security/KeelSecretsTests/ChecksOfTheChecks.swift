import KeelConformance
import KeelSecrets
import Testing

@Suite("The checks detect a secret store that breaks a promise")
struct ChecksOfTheChecks {
    private static let features: SecretStoreSubject.Features = [.writable, .anyBytes, .anyNames]

    @Test(arguments: BrokenSecretStoreAdapter.Fault.allCases)
    func notices(_ fault: BrokenSecretStoreAdapter.Fault) async throws {
        var caught: [String] = []
        for check in SecretStoreCheck.applicable(to: Self.features) where check.group == fault.group
        {
            let isCaught = try await recordsIssue {
                try await check.run(
                    on: SecretStoreSubject(features: Self.features) { _ in
                        BrokenSecretStoreAdapter(fault)
                    }
                )
            }
            if isCaught { caught.append(check.testDescription) }
        }
        #expect(!caught.isEmpty, "no check noticed a store that \(fault.rawValue)")
        // If the whole group fails, the failure is not specific to the fault.
        let all = SecretStoreCheck.applicable(to: Self.features).filter { $0.group == fault.group }
        #expect(caught.count < all.count || fault == .forgetsWrites || fault == .mixesServices)
    }
}
