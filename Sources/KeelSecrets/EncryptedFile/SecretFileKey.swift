public import KeelCore

/// Where the key of an encrypted file of secrets comes from.
public struct SecretFileKey: Sendable {
    enum Origin: Sendable {
        case source(any KeyEncryptionKeySource)
        case passphrase(String, Argon2Cost)
    }

    let origin: Origin

    /// A key that a source hands out: a key file, a systemd credential, a variable.
    ///
    /// - Parameter source: The source.
    /// - Returns: Where the key comes from.
    public static func source(_ source: any KeyEncryptionKeySource) -> Self {
        Self(origin: .source(source))
    }

    /// A key that is made from a passphrase with Argon2id (RFC 9106).
    ///
    /// A file keeps the cost that it was made with; another one applies to new files.
    ///
    /// - Parameters:
    ///   - passphrase: The passphrase, used as UTF-8 and not normalised.
    ///   - cost: What making the key of a new file costs.
    /// - Returns: Where the key comes from.
    public static func passphrase(_ passphrase: String, cost: Argon2Cost = Argon2Cost()) -> Self {
        Self(origin: .passphrase(passphrase, cost))
    }
}

extension SecretFileKey: CustomStringConvertible, CustomReflectable {
    /// Whether it is a source or a passphrase, and nothing of it.
    public var description: String {
        switch origin {
        case .source: "key from a source"
        case .passphrase: "key from a passphrase"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
