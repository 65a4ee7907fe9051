public import KeelCore

/// The origin of the key of an encrypted secret file.
public struct SecretFileKey: Sendable {
    enum Origin: Sendable {
        case source(any KeyEncryptionKeySource)
        case passphrase(String, Argon2Cost)
    }

    let origin: Origin

    /// Returns a key that a source provides: a key file, a systemd credential or an environment variable.
    public static func source(_ source: any KeyEncryptionKeySource) -> Self {
        Self(origin: .source(source))
    }

    /// Returns a key that is derived from a passphrase with Argon2id (RFC 9106).
    ///
    /// An existing file keeps the cost that it was created with.
    ///
    /// - Parameters:
    ///   - passphrase: The passphrase, used as UTF-8 without normalization.
    ///   - cost: The cost of deriving the key of a new file.
    /// - Returns: The origin of the key.
    public static func passphrase(_ passphrase: String, cost: Argon2Cost = Argon2Cost()) -> Self {
        Self(origin: .passphrase(passphrase, cost))
    }
}

extension SecretFileKey: CustomStringConvertible, CustomReflectable {
    /// The kind of the origin, without any secret.
    public var description: String {
        switch origin {
        case .source: "key from a source"
        case .passphrase: "key from a passphrase"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
