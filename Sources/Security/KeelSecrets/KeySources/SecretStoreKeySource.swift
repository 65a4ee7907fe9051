#if Crypto
public import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A key in a secret store, which is created on first use.
///
/// ```swift
/// let source = SecretStoreKeySource(secrets)
/// let keyset = try await Keyset(encrypted: data, under: source)
/// ```
///
/// The secret is 64 hexadecimal digits. Processes that ask at the same time get the same key if the store declares
/// `comparesAcrossProcesses`; with another store, let only one process create the key. Do not use such a source for the
/// encrypted file that it reads from.
public struct SecretStoreKeySource: KeyEncryptionKeySource {
    private let secrets: SecretStore
    private let key: String
    private let createsIfMissing: Bool

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - secrets: The store of the key.
    ///   - key: The key of the secret.
    ///   - createsIfMissing: Whether a missing secret is created, with a random key.
    public init(
        _ secrets: SecretStore,
        key: String = "key-encryption-key",
        createsIfMissing: Bool = true
    ) {
        self.secrets = secrets
        self.key = key
        self.createsIfMissing = createsIfMissing
    }

    public func keyEncryptionKey() async throws -> KeyEncryptionKey {
        if let found = try await existing() { return found }
        guard createsIfMissing else {
            throw SecretError(.missingKey, "There is no secret \(key) of \(secrets.service).")
        }
        let digits = Hexadecimal.text(
            of: SecretFileCipher.randomBytes(KeyEncryptionKey.byteCount)
        )
        // If this returns false, another process has created the key in the meantime.
        _ = try await secrets.compareAndSet(
            forKey: key,
            expected: nil,
            new: Data(digits.utf8)
        )
        guard let made = try await existing() else {
            throw SecretError(
                .missingKey,
                "The secret \(key) disappeared while it was being created."
            )
        }
        return made
    }

    private func existing() async throws(SecretError) -> KeyEncryptionKey? {
        guard let data = try await secrets.loadIfPresent(forKey: key) else { return nil }
        return try KeyText.key(Array(data), from: "The secret \(key)")
    }
}

extension SecretStoreKeySource: CustomStringConvertible, CustomReflectable {
    /// The location of the key.
    public var description: String { "key \(key) in \(secrets)" }

    public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
#endif
