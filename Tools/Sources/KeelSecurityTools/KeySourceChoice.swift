package import KeelCore
internal import KeelSecrets
internal import KeelToolSupport

/// Where a command takes the key-encryption key from.
package struct KeySourceChoice: Sendable {
    /// A key file of the mode 0600.
    package var file: String?
    /// An environment variable.
    package var variable: String?
    /// A credential of systemd.
    package var credential: String?
    /// A service of the platform's store of secrets.
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

    /// How many sources are named; it has to be one.
    package var count: Int { [file, variable, credential, service].count { $0 != nil } }

    /// The source.
    ///
    /// - Parameter isMadeOnDemand: Whether a missing key is made, where the source can.
    /// - Returns: The source.
    /// - Throws: What a store of secrets throws that cannot be used.
    package func source(isMadeOnDemand: Bool) async throws -> any KeyEncryptionKeySource {
        if let file { return KeyFileSource(path: file, isMadeOnDemand: isMadeOnDemand) }
        if let variable { return EnvironmentKeySource(variable: variable) }
        if let credential { return SystemdCredentialSource(name: credential) }
        guard let service else {
            throw ToolError(
                "no source of the key is named",
                advice: "Give one of --key-file, --key-variable, --key-credential, --key-service."
            )
        }
        let secrets = try await SecretStore.platformDefault(service: service)
        return SecretStoreKeySource(secrets, isMadeOnDemand: isMadeOnDemand)
    }
}
