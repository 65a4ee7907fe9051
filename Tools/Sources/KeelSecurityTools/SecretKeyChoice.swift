package import KeelSecrets

/// The source of the key of an encrypted secrets file for a command.
package struct SecretKeyChoice: Sendable {
    /// A stored key.
    package var source: KeySourceChoice
    /// The source of a passphrase; nil if the key is none.
    package var passphrase: PassphraseSource?

    package init(
        source: KeySourceChoice = KeySourceChoice(),
        passphrase: PassphraseSource? = nil
    ) {
        self.source = source
        self.passphrase = passphrase
    }

    /// The number of named origins, at most one.
    package var count: Int { source.count + (passphrase == nil ? 0 : 1) }

    /// Returns the key; nil if none is named.
    ///
    /// - Parameters:
    ///   - isNew: Whether the file does not exist yet, so that a passphrase is asked for twice.
    ///   - createsIfMissing: Whether to create a missing key file.
    /// - Returns: The source of the key.
    /// - Throws: An error if no passphrase is available.
    package func key(
        isNew: Bool = false,
        createsIfMissing: Bool = false
    ) async throws -> SecretFileKey? {
        if let passphrase { return .passphrase(try passphrase.passphrase(isNew: isNew)) }
        guard source.count == 1 else { return nil }
        return .source(try await source.source(createsIfMissing: createsIfMissing))
    }
}
