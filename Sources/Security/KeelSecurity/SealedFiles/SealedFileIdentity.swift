#if Crypto
internal import Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A public key that files are sealed for (X25519).
///
/// Its text is `keelpub1` and 72 hexadecimal digits, the last eight of which detect typing errors.
public struct SealedFileRecipient: Hashable, Sendable, CustomStringConvertible {
    static let info = Array("keel sealed file v1 recipient".utf8)
    static var suite: HPKE.Ciphersuite { HybridKeys.suite(.chaCha20Poly1305) }

    /// The 32 bytes of the key.
    public let rawRepresentation: Data

    /// Creates a recipient from the 32 bytes of an X25519 key.
    ///
    /// - Throws: `invalidKey` for another number of bytes.
    public init(rawRepresentation: Data) throws(SecurityError) {
        guard rawRepresentation.count == 32 else {
            throw SecurityError(.invalidKey, "the bytes are not a public key")
        }
        self.rawRepresentation = Data(rawRepresentation)
    }

    /// Reads a recipient's text, a PEM file or a JSON Web Key of an X25519 public key.
    ///
    /// - Parameter text: The text; white space around it is ignored.
    /// - Throws: `invalidKey` for anything else, including a private key.
    public init(_ text: String) throws(SecurityError) {
        guard
            let bytes = CheckedKeyText.recipient.bytes(of: text)
                ?? CurvePEM.x25519.publicKey(in: text)
                ?? JSONWebKey(publicText: text)?.publicBytes(of: "X25519")
        else {
            throw SecurityError(
                .invalidKey,
                "the text is not an X25519 public key: keelpub1 and 72 digits, PEM or JWK"
            )
        }
        try self.init(rawRepresentation: bytes)
    }

    /// The key as `keelpub1` and digits.
    public var description: String { CheckedKeyText.recipient.text(of: rawRepresentation) }

    /// The key as PEM (RFC 8410).
    public var pemRepresentation: String { CurvePEM.x25519.publicText(of: rawRepresentation) }

    /// The key as a JSON Web Key (RFC 8037).
    public var jwkRepresentation: String {
        JSONWebKey(okp: "X25519", publicKey: rawRepresentation).text
    }

    func wrap(_ key: SymmetricKey) throws(SecurityError) -> Data {
        do {
            var sender = try HPKE.Sender(
                recipientKey: try Curve25519.KeyAgreement.PublicKey(
                    rawRepresentation: rawRepresentation
                ),
                ciphersuite: Self.suite,
                info: Data(Self.info)
            )
            let sealed = try sender.seal(key.withUnsafeBytes { Data($0) })
            return sender.encapsulatedKey + sealed
        } catch {
            throw SecurityError(
                .encryptionFailed,
                "the file's key could not be encrypted for \(description)",
                cause: error
            )
        }
    }
}

/// A private key that opens files which were sealed for its recipient (X25519).
public struct SealedFileIdentity: Sendable {
    private let key: Curve25519.KeyAgreement.PrivateKey

    /// Generates a key.
    public init() { key = Curve25519.KeyAgreement.PrivateKey() }

    /// Reads a private key: the result of ``cleartextText()``, unencrypted PEM (PKCS#8) or a JSON Web Key.
    ///
    /// - Parameter text: The text. Empty lines and lines that begin with `#` are ignored in the first form.
    /// - Throws: `invalidKey` for anything else.
    public init(_ text: String) throws(SecurityError) {
        guard
            let bytes = CheckedKeyText.identity.bytes(of: text)
                ?? CurvePEM.x25519.privateKey(in: text)
                ?? JSONWebKey(text)?.privateBytes(of: "X25519"),
            let key = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
        else {
            throw SecurityError(
                .invalidKey,
                "the text is not an X25519 private key: keelsec1 and 72 digits, PEM or JWK"
            )
        }
        if let claimed = JSONWebKey(text)?.publicBytes(of: "X25519"),
            claimed != key.publicKey.rawRepresentation
        {
            throw SecurityError(.invalidKey, "the halves of the JWK do not belong together")
        }
        self.key = key
    }

    /// The public key that files are sealed for.
    public var recipient: SealedFileRecipient {
        // The library's own key always has a public half of 32 bytes.
        SealedFileRecipient(trusted: key.publicKey.rawRepresentation)
    }

    /// Returns the key as `keelsec1` and digits: anyone with the text can open the files.
    public func cleartextText() -> String {
        CheckedKeyText.identity.text(of: key.rawRepresentation)
    }

    /// Returns the key as unencrypted PEM (PKCS#8): anyone with the text can open the files.
    public func cleartextPEM() -> String { CurvePEM.x25519.privateText(of: key.rawRepresentation) }

    /// Returns the key as a JSON Web Key: anyone with the text can open the files.
    public func cleartextJWK() -> String {
        JSONWebKey(
            okp: "X25519",
            publicKey: key.publicKey.rawRepresentation,
            privateKey: key.rawRepresentation
        ).text
    }

    func unwrap(_ wrapped: Data) -> SymmetricKey? {
        guard
            var recipient = try? HPKE.Recipient(
                privateKey: key,
                ciphersuite: SealedFileRecipient.suite,
                info: Data(SealedFileRecipient.info),
                encapsulatedKey: Data(wrapped.prefix(32))
            ), let plain = try? recipient.open(Data(wrapped.dropFirst(32))), plain.count == 32
        else { return nil }
        return SymmetricKey(data: plain)
    }
}

extension SealedFileIdentity: CustomStringConvertible, CustomReflectable {
    public var description: String { "identity of \(recipient)" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension SealedFileRecipient {
    fileprivate init(trusted bytes: Data) { rawRepresentation = bytes }
}

/// The text of a key: a prefix, 64 hexadecimal digits, and eight more that detect typing errors.
struct CheckedKeyText {
    static let recipient = Self(prefix: "keelpub1")
    static let identity = Self(prefix: "keelsec1")

    private let prefix: String

    func text(of key: Data) -> String {
        prefix + Hexadecimal.text(of: Array(key) + check(key))
    }

    func bytes(of text: String) -> Data? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard lines.count == 1, let line = lines.first, line.hasPrefix(prefix) else { return nil }
        guard let bytes = Hexadecimal.bytes(of: line.dropFirst(prefix.count)), bytes.count == 36
        else { return nil }
        let key = Data(bytes.prefix(32))
        return check(key) == Array(bytes.suffix(4)) ? key : nil
    }

    private func check(_ key: Data) -> [UInt8] {
        Array(SHA256.hash(data: Data(prefix.utf8) + key).prefix(4))
    }
}
#endif
