package import KeelSecurity
internal import KeelToolSupport

/// The private key of a file: for sealed files, or for signatures.
package enum PrivateKeyText: Sendable {
    case identity(SealedFileIdentity)
    case signing(SigningKey)

    package enum Kind: String, Sendable, CaseIterable {
        case x25519
        case ed25519
        case p256
    }

    package init(_ kind: Kind) {
        switch kind {
        case .x25519: self = .identity(SealedFileIdentity())
        case .ed25519: self = .signing(SigningKey(.ed25519))
        case .p256: self = .signing(SigningKey(.p256))
        }
    }

    /// Reads a key from Keel's text, PEM or a JSON Web Key; throws `ToolError` with the place of anything else.
    package init(_ text: String, from place: String) throws {
        if let key = try? SealedFileIdentity(text) {
            self = .identity(key)
        } else if let key = try? SigningKey(pemRepresentation: text) {
            self = .signing(key)
        } else if let key = try? SigningKey(jwkRepresentation: text) {
            self = .signing(key)
        } else {
            throw ToolError(
                "“\(place)” is not a private key",
                advice: "Give an unencrypted X25519, Ed25519 or P-256 key: PEM, JWK or keelsec1…"
            )
        }
    }

    package var publicKey: PublicKeyText {
        switch self {
        case .identity(let key): .recipient(key.recipient)
        case .signing(let key): .verification(key.publicKey)
        }
    }

    /// Returns the key unencrypted; throws `ToolError` for a key for signatures in the form `text`.
    package func cleartext(_ form: KeyForm) throws -> String {
        switch (self, form) {
        case (.identity(let key), .text): key.cleartextText() + "\n"
        case (.identity(let key), .pem): key.cleartextPEM()
        case (.identity(let key), .jwk): key.cleartextJWK()
        case (.signing(let key), .pem): key.cleartextPEM().endingLine
        case (.signing(let key), .jwk): key.cleartextJWK()
        case (.signing, .text): throw KeyForm.noText
        }
    }
}

package enum PublicKeyText: Sendable {
    case recipient(SealedFileRecipient)
    case verification(VerificationKey)

    /// Reads a public key, or the public half of a private key, from Keel's text, PEM or a JSON Web Key; throws
    /// `ToolError` with the place of anything else.
    package init(_ text: String, from place: String) throws {
        if let key = try? SealedFileRecipient(text) {
            self = .recipient(key)
        } else if let key = try? VerificationKey(pemRepresentation: text) {
            self = .verification(key)
        } else if let key = try? VerificationKey(jwkRepresentation: text) {
            self = .verification(key)
        } else if let key = try? PrivateKeyText(text, from: place) {
            self = key.publicKey
        } else {
            throw ToolError(
                "“\(place)” is not a key",
                advice: "Give a key of X25519, Ed25519 or P-256 in PEM or JWK, or keelpub1…"
            )
        }
    }

    package func text(_ form: KeyForm) throws -> String {
        switch (self, form) {
        case (.recipient(let key), .text): "\(key)\n"
        case (.recipient(let key), .pem): key.pemRepresentation
        case (.recipient(let key), .jwk): key.jwkRepresentation
        case (.verification(let key), .pem): key.pemRepresentation
        case (.verification(let key), .jwk): key.jwkRepresentation
        case (.verification, .text): throw KeyForm.noText
        }
    }

    /// The form without `--format`.
    package var usualForm: KeyForm {
        switch self {
        case .recipient: .text
        case .verification: .pem
        }
    }
}

package enum KeyForm: String, Sendable, CaseIterable {
    case text
    case pem
    case jwk

    fileprivate static let noText = ToolError(
        "keys for signatures have no text of Keel's own",
        advice: "Add --format pem or --format jwk.",
        exit: .usage
    )
}

extension String {
    fileprivate var endingLine: String { hasSuffix("\n") ? self : self + "\n" }
}
