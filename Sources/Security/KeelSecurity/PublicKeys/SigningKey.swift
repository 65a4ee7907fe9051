#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The signature algorithms.
public enum SignatureAlgorithm: Hashable, Sendable, CaseIterable {
    /// Ed25519 (RFC 8032), with signatures of 64 bytes.
    case ed25519
    /// ECDSA on the curve P-256 with SHA-256, with signatures in DER.
    case p256
}

/// A private key that signs data.
public struct SigningKey: Sendable {
    private enum Key {
        case ed25519(Curve25519.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
    }

    private let key: Key

    /// Generates a key.
    public init(_ algorithm: SignatureAlgorithm = .ed25519) {
        switch algorithm {
        case .ed25519: key = .ed25519(Curve25519.Signing.PrivateKey())
        case .p256: key = .p256(P256.Signing.PrivateKey())
        }
    }

    /// Creates a key from its 32 bytes.
    ///
    /// - Parameters:
    ///   - rawRepresentation: The result of ``cleartextRawRepresentation()``.
    ///   - algorithm: The signature algorithm of the key.
    /// - Throws: `invalidKey` if the bytes are not such a key.
    public init(
        rawRepresentation: Data,
        _ algorithm: SignatureAlgorithm
    ) throws(SecurityError) {
        do {
            switch algorithm {
            case .ed25519: key = .ed25519(try .init(rawRepresentation: rawRepresentation))
            case .p256: key = .p256(try .init(rawRepresentation: rawRepresentation))
            }
        } catch {
            throw SecurityError(.invalidKey, "the bytes are not a private key of this algorithm")
        }
    }

    /// Returns the key's 32 bytes: anyone who has them can sign.
    public func cleartextRawRepresentation() -> Data {
        switch key {
        case .ed25519(let key): key.rawRepresentation
        case .p256(let key): key.rawRepresentation
        }
    }

    /// Reads a key from unencrypted PEM: PKCS#8, or SEC 1 for P-256.
    ///
    /// An Ed25519 key must have the form that OpenSSL writes (RFC 8410, section 7): without its public half and
    /// attributes.
    ///
    /// - Throws: `invalidKey` if the text is not a private key of one of the algorithms.
    public init(pemRepresentation: String) throws(SecurityError) {
        if let bytes = CurvePEM.ed25519.privateKey(in: pemRepresentation),
            let found = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        {
            key = .ed25519(found)
        } else if let found = try? P256.Signing.PrivateKey(pemRepresentation: pemRepresentation) {
            key = .p256(found)
        } else {
            throw SecurityError(.invalidKey, "the text is not a private key of a known algorithm")
        }
    }

    /// The signature algorithm of the key.
    public var algorithm: SignatureAlgorithm {
        switch key {
        case .ed25519: .ed25519
        case .p256: .p256
        }
    }

    /// Returns the key as PEM (PKCS#8), not encrypted: anyone with the text can sign.
    public func cleartextPEM() -> String {
        switch key {
        case .ed25519(let key): CurvePEM.ed25519.privateText(of: key.rawRepresentation)
        case .p256(let key): key.pemRepresentation
        }
    }

    /// The key that verifies this key's signatures.
    public var publicKey: VerificationKey {
        switch key {
        case .ed25519(let key): VerificationKey(key.publicKey)
        case .p256(let key): VerificationKey(key.publicKey)
        }
    }

    /// Signs data.
    ///
    /// - Returns: 64 bytes with Ed25519, or about 71 bytes of DER with P-256.
    /// - Throws: `encryptionFailed` if the library fails to sign.
    public func signature(for data: Data) throws(SecurityError) -> Data {
        do {
            switch key {
            case .ed25519(let key): return try key.signature(for: data)
            case .p256(let key): return try key.signature(for: data).derRepresentation
            }
        } catch {
            throw SecurityError(.encryptionFailed, "the data could not be signed", cause: error)
        }
    }
}

extension SigningKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "signing key" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A public key that verifies signatures.
public struct VerificationKey: Sendable {
    private enum Key {
        case ed25519(Curve25519.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
    }

    private let key: Key

    init(_ key: Curve25519.Signing.PublicKey) { self.key = .ed25519(key) }
    init(_ key: P256.Signing.PublicKey) { self.key = .p256(key) }

    /// Creates a key from its bytes.
    ///
    /// - Parameters:
    ///   - rawRepresentation: 32 bytes for Ed25519, or the 65 bytes of an uncompressed point (X9.63) for P-256.
    ///   - algorithm: The signature algorithm of the key.
    /// - Throws: `invalidKey` if the bytes are not such a key.
    public init(
        rawRepresentation: Data,
        _ algorithm: SignatureAlgorithm
    ) throws(SecurityError) {
        do {
            switch algorithm {
            case .ed25519: key = .ed25519(try .init(rawRepresentation: rawRepresentation))
            case .p256: key = .p256(try .init(x963Representation: rawRepresentation))
            }
        } catch {
            throw SecurityError(.invalidKey, "the bytes are not a public key of this algorithm")
        }
    }

    /// The signature algorithm of the key.
    public var algorithm: SignatureAlgorithm {
        switch key {
        case .ed25519: .ed25519
        case .p256: .p256
        }
    }

    /// The key's bytes.
    public var rawRepresentation: Data {
        switch key {
        case .ed25519(let key): key.rawRepresentation
        case .p256(let key): key.x963Representation
        }
    }

    /// Returns whether the owner of the private key signed the data.
    ///
    /// - Parameters:
    ///   - signature: The result of ``SigningKey/signature(for:)``.
    ///   - data: The signed data.
    /// - Returns: False for anything else.
    public func isValid(_ signature: Data, for data: Data) -> Bool {
        switch key {
        case .ed25519(let key):
            return key.isValidSignature(signature, for: data)
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: data)
        }
    }
}

extension SigningKey {
    /// Reads a private key from a JSON Web Key of the curve Ed25519 or P-256.
    ///
    /// - Throws: `invalidKey` if the text is not such a key, or its halves do not belong together.
    public init(jwkRepresentation: String) throws(SecurityError) {
        let key = JSONWebKey(jwkRepresentation)
        if let bytes = key?.privateBytes(of: "Ed25519") {
            try self.init(rawRepresentation: bytes, .ed25519)
        } else if let bytes = key?.p256PrivateBytes {
            try self.init(rawRepresentation: bytes, .p256)
        } else {
            throw SecurityError(.invalidKey, "the text is not a private JWK for signatures")
        }
        guard publicKey.rawRepresentation == key?.verificationBytes else {
            throw SecurityError(.invalidKey, "the halves of the JWK do not belong together")
        }
    }

    /// Returns the key as a JSON Web Key: anyone with the text can sign.
    public func cleartextJWK() -> String {
        publicKey.jwk(privateKey: cleartextRawRepresentation()).text
    }
}

extension VerificationKey {
    /// Reads a public key from PEM.
    ///
    /// - Parameter pemRepresentation: The PEM text of a key of one of the algorithms.
    /// - Throws: `invalidKey` if the text is not such a key.
    public init(pemRepresentation: String) throws(SecurityError) {
        if let bytes = CurvePEM.ed25519.publicKey(in: pemRepresentation) {
            try self.init(rawRepresentation: bytes, .ed25519)
        } else if let found = try? P256.Signing.PublicKey(pemRepresentation: pemRepresentation) {
            self.init(found)
        } else {
            throw SecurityError(.invalidKey, "the text is not a public key of a known algorithm")
        }
    }

    /// Reads a public key from a JSON Web Key of the curve Ed25519 or P-256.
    ///
    /// - Parameter jwkRepresentation: The JSON text. A private key is refused.
    /// - Throws: `invalidKey` if the text is not such a key.
    public init(jwkRepresentation: String) throws(SecurityError) {
        guard let key = JSONWebKey(publicText: jwkRepresentation),
            let bytes = key.verificationBytes
        else {
            throw SecurityError(.invalidKey, "the text is not a public JWK for signatures")
        }
        try self.init(rawRepresentation: bytes, bytes.count == 32 ? .ed25519 : .p256)
    }

    /// The key as PEM.
    public var pemRepresentation: String {
        switch algorithm {
        case .ed25519: CurvePEM.ed25519.publicText(of: rawRepresentation)
        case .p256:
            // The bytes are those of a key.
            (try? P256.Signing.PublicKey(x963Representation: rawRepresentation))
                .map { $0.pemRepresentation + "\n" } ?? ""
        }
    }

    /// The key as a JSON Web Key.
    public var jwkRepresentation: String { jwk(privateKey: nil).text }

    fileprivate func jwk(privateKey: Data?) -> JSONWebKey {
        switch algorithm {
        case .ed25519:
            JSONWebKey(okp: "Ed25519", publicKey: rawRepresentation, privateKey: privateKey)
        case .p256: JSONWebKey(p256: rawRepresentation, privateKey: privateKey)
        }
    }
}

extension JSONWebKey {
    fileprivate var verificationBytes: Data? { publicBytes(of: "Ed25519") ?? p256Point }
}
#endif
