internal import KeelHTTP
public import KeelHTTPAuthentication
public import KeelSecrets

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
/// The credentials are one secret, as JSON: a save replaces all of them or nothing, and signing out removes the secret.
/// The user of each clean-up is a secret of its own. Each session of an app needs its own key. Sessions of several
/// processes share the credentials under one key if the capabilities of the secret store contain
/// `comparesAcrossProcesses`. An error of the secret store, such as a locked keyring, becomes the cause of an
/// `AuthenticationError` with the code `storeFailed`, or `cleanUpIncomplete` at sign-out; the credentials remain
/// stored.
public struct SecretCredentialStore<Credentials: SessionCredentials & Codable>: CredentialStore {
    private let secrets: SecretStore
    private let key: String

    /// Creates a credential store.
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

    public func replace(_ old: Credentials, with new: Credentials?) async throws -> Bool {
        let bytes = try new.map { try Self.encoded($0) }
        while let stored = try await secrets.loadIfPresent(forKey: key),
            try decoded(stored).matches(old)
        {
            let isDone = try await secrets.compareAndSet(
                forKey: key,
                expected: stored,
                new: bytes
            )
            if isDone { return true }
        }
        return false
    }

    public func user(ofCleanUp name: String) async throws -> String? {
        let bytes = try await secrets.loadIfPresent(forKey: cleanUpKey(name))
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    public func setUser(_ user: String?, ofCleanUp name: String) async throws {
        if let user {
            try await secrets.save(user, forKey: cleanUpKey(name))
        } else {
            try await secrets.delete(forKey: cleanUpKey(name))
        }
    }

    private func cleanUpKey(_ name: String) -> String { "\(key).cleanup.\(name)" }

    private static func encoded(_ credentials: Credentials) throws(SecretError) -> Data {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode(credentials)
        } catch {
            // The encoder's error may quote a token.
            throw SecretError(.encodingFailed, "The credentials could not be encoded.")
        }
    }

    private func decoded(_ bytes: Data) throws(SecretError) -> Credentials {
        do {
            return try JSONDecoder().decode(Credentials.self, from: bytes)
        } catch {
            // The decoder's error may quote a token.
            throw SecretError(.invalidData, "The secret \(key) does not have the requested type.")
        }
    }
}

extension SecretCredentialStore: CustomStringConvertible, CustomReflectable {
    /// The location of the credentials, without their contents.
    public var description: String { "credentials \(key) in \(secrets)" }

    public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
