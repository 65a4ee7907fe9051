internal import Foundation
package import KeelSecrets
internal import KeelToolSupport

/// The source of the key of an encrypted secrets file for a command.
package struct SecretKeyChoice: Sendable {
    /// A stored key.
    package var source: KeySourceChoice
    /// Whether to ask for a passphrase.
    package var asksForPassphrase: Bool
    /// An environment variable with a passphrase.
    package var passphraseVariable: String?

    package init(
        source: KeySourceChoice = KeySourceChoice(),
        asksForPassphrase: Bool = false,
        passphraseVariable: String? = nil
    ) {
        self.source = source
        self.asksForPassphrase = asksForPassphrase
        self.passphraseVariable = passphraseVariable
    }

    /// The number of named origins, at most one.
    package var count: Int {
        source.count + (asksForPassphrase ? 1 : 0) + (passphraseVariable == nil ? 0 : 1)
    }

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
        if asksForPassphrase {
            let question = "Passphrase"
            let text = isNew ? try SecretPrompt.askTwice(question) : try SecretPrompt.ask(question)
            return .passphrase(text)
        }
        if let passphraseVariable {
            let text = ProcessInfo.processInfo.environment[passphraseVariable]
            guard let text, !text.isEmpty else {
                throw ToolError(
                    "the variable \(passphraseVariable) contains no passphrase",
                    advice: "Set it, or use --passphrase at a terminal."
                )
            }
            return .passphrase(text)
        }
        guard source.count == 1 else { return nil }
        return .source(try await source.source(createsIfMissing: createsIfMissing))
    }
}
