internal import Foundation
package import KeelSecrets
internal import KeelToolSupport

/// Where a command takes the key of an encrypted file of secrets from.
package struct SecretKeyChoice: Sendable {
    /// A key that is kept somewhere.
    package var source: KeySourceChoice
    /// Whether a passphrase is asked for.
    package var asksForPassphrase: Bool
    /// An environment variable that holds a passphrase.
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

    /// How many origins are named; it may be one at most.
    package var count: Int {
        source.count + (asksForPassphrase ? 1 : 0) + (passphraseVariable == nil ? 0 : 1)
    }

    /// The key, nil where none is named.
    ///
    /// - Parameters:
    ///   - isNew: Whether there is no file yet, so that a passphrase is asked for twice.
    ///   - isMadeOnDemand: Whether a missing key file is made.
    /// - Returns: Where the key comes from.
    /// - Throws: Where a passphrase cannot be had.
    package func key(
        isNew: Bool = false,
        isMadeOnDemand: Bool = false
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
                    "the variable \(passphraseVariable) holds no passphrase",
                    advice: "Set it, or use --passphrase at a terminal."
                )
            }
            return .passphrase(text)
        }
        guard source.count == 1 else { return nil }
        return .source(try await source.source(isMadeOnDemand: isMadeOnDemand))
    }
}
