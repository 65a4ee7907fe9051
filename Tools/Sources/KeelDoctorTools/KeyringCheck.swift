package import KeelSecrets
internal import KeelToolSupport

/// Checks the platform's secret store.
package struct KeyringCheck: DoctorCheck {
    private let open: @Sendable () async throws(SecretError) -> SecretStore

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
            return [.problem("secrets", problem.name, advice: ShellAdvice.text(for: problem))]
        } catch {
            // Servers usually have none, and do not need one: a file with its own key suffices.
            let described = ToolError(describing: error)
            return [
                .warning(
                    "secrets",
                    described.message,
                    advice: "\(described.advice) `keel secrets doctor` has the details."
                )
            ]
        }
    }
}
