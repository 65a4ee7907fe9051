internal import KeelHTTP
public import KeelHTTPAuthentication
public import KeelSecrets

/// A store of a session's credentials in a secret store.
///
/// ```swift
/// let secrets = try await SecretStore.platformDefault(service: "com.example.notes", fallback: file)
/// let session = AuthSession(
///     server: OAuthIdentityServer(client, path: "/token"),
///     store: SecretCredentialStore<BearerCredentials>(secrets)
/// )
/// ```
///
/// The credentials are one secret, as JSON: a save replaces all of them or nothing, and signing out
/// removes the secret. Each session of an app needs its own key. An error of the secret store, for
/// example a locked keyring, becomes the cause of an `AuthenticationError` with the code
/// `storeFailed`; the credentials remain stored.
public struct SecretCredentialStore<Credentials: SessionCredentials & Codable>: CredentialStore {
    private let secrets: SecretStore
    private let key: String

    /// Creates a credential store.
    ///
    /// - Parameters:
    ///   - secrets: The secret store.
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
    /// The location of the credentials, without their contents.
    public var description: String { "credentials \(key) in \(secrets)" }

    public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
