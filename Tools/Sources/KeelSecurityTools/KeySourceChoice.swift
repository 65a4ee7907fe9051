package import KeelCore
internal import KeelSecrets
internal import KeelToolSupport

/// The source of the key-encryption key for a command.
package struct KeySourceChoice: Sendable {
    /// The path of a file that only its owner can access.
    package var file: String?
    package var variable: String?
    /// A systemd credential.
    package var credential: String?
    /// A service of the platform's secret store.
    package var service: String?

    package init(
        file: String? = nil,
        variable: String? = nil,
        credential: String? = nil,
        service: String? = nil
    ) {
        self.file = file
        self.variable = variable
        self.credential = credential
        self.service = service
    }

    package var count: Int { [file, variable, credential, service].count { $0 != nil } }

    /// Returns the first named source; with `createsIfMissing`, a file or a secret store creates a missing key when it
    /// is first used.
    ///
    /// - Throws: `ToolError` if none is named, or `SecretError` if the platform's store cannot be used.
    package func source(createsIfMissing: Bool) async throws -> any KeyEncryptionKeySource {
        if let file { return KeyFileSource(path: file, createsIfMissing: createsIfMissing) }
        if let variable { return EnvironmentKeySource(variable: variable) }
        if let credential { return SystemdCredentialSource(name: credential) }
        guard let service else {
            throw ToolError(
                "no key source is given",
                advice: "Give one of --key-file, --key-variable, --key-credential, --key-service."
            )
        }
        let secrets = try await SecretStore.platformDefault(service: service)
        return SecretStoreKeySource(secrets, createsIfMissing: createsIfMissing)
    }
}
