package import KeelSecrets

/// Looks at the store of secrets that the platform has.
package struct KeyringExamination: DoctorExamination {
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
            // Servers have none, and need none: a file with a key of its own does.
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
