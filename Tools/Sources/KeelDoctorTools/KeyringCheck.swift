package import KeelSecrets

/// Checks the platform's secret store.
package struct KeyringCheck: DoctorCheck {
    private let open: @Sendable () async throws(SecretError) -> SecretStore

    /// - Parameter open: Opens the store.
    package init(
        open: @escaping @Sendable () async throws(SecretError) -> SecretStore = {
            () async throws(SecretError) in
            try await SecretStore.platformDefault(service: "keel-doctor")
        }
    ) {
        self.open = open
    }

    package func findings() async -> [DoctorFinding] {
        do throws(SecretError) {
            let capabilities = await (try open()).capabilities()
            guard let problem = capabilities.problem else {
                return [.good("secrets", "the \(capabilities.kind.name) of the platform")]
            }
            return [.problem("secrets", problem.name, advice: problem.advice)]
        } catch {
            // Servers usually have none, and do not need one: a file with its own key suffices.
            return [
                .warning(
                    "secrets",
                    error.message,
                    advice: "\(error.code.advice) `keel secrets doctor` has the details."
                )
            ]
        }
    }
}
