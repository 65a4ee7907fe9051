public import KeelHTTP
public import KeelSecrets

/// Keeps the credentials of a session in a store of secrets.
///
/// ```swift
/// let secrets = try await SecretStore.platformDefault(service: "com.example.notes", orElse: file)
/// let session = AuthSession(
///     server: OAuthIdentityServer(client, path: "/token"),
///     store: SecretCredentialStore<BearerCredentials>(secrets)
/// )
/// ```
///
/// The credentials are one secret, as JSON: a save replaces all of them or nothing, and signing out
/// removes the secret. Each session of an app needs a key of its own. What a store of secrets
/// throws, a locked keyring for example, reaches the caller as the cause of an
/// `AuthenticationError` with the code `storeFailed`; the credentials stay where they are.
public struct SecretCredentialStore<Credentials: SessionCredentials & Codable>: CredentialStore {
    private let secrets: SecretStore
    private let key: String

    /// Creates a store of credentials.
    ///
    /// - Parameters:
    ///   - secrets: What keeps them.
    ///   - key: The key of the secret.
    public init(_ secrets: SecretStore, key: String = "session") {
        self.secrets = secrets
        self.key = key
    }

    public func load() async throws -> Credentials? {
        do throws(SecretError) {
            return try await secrets.loadValue(Credentials.self, forKey: key)
        } catch {
            guard error.code == .keyNotFound else { throw error }
            return nil
        }
    }

    public func save(_ credentials: Credentials) async throws {
        try await secrets.save(encoding: credentials, forKey: key)
    }

    public func clear() async throws {
        try await secrets.delete(forKey: key)
    }
}

extension SecretCredentialStore: CustomStringConvertible, CustomReflectable {
    /// Where the credentials are, and nothing of them.
    public var description: String { "credentials \(key) in \(secrets)" }

    public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
