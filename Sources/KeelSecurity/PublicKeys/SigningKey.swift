#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The ways to sign.
public enum SignatureAlgorithm: Hashable, Sendable, CaseIterable {
    /// Ed25519 (RFC 8032): signatures of 64 bytes.
    case ed25519
    /// ECDSA on the curve P-256 with SHA-256: signatures in DER.
    case p256
}

/// A private key that signs.
public struct SigningKey: Sendable {
    private enum Key {
        case ed25519(Curve25519.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
    }

    private let key: Key

    /// Makes a new key.
    ///
    /// - Parameter algorithm: What to sign with.
    public init(_ algorithm: SignatureAlgorithm = .ed25519) {
        switch algorithm {
        case .ed25519: key = .ed25519(Curve25519.Signing.PrivateKey())
        case .p256: key = .p256(P256.Signing.PrivateKey())
        }
    }

    /// Reads a key from its 32 bytes.
    ///
    /// - Parameters:
    ///   - rawRepresentation: What ``cleartextRawRepresentation()`` returned.
    ///   - algorithm: What the key signs with.
    /// - Throws: `invalidKey` if the bytes are no such key.
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
            throw SecurityError(.invalidKey, "the bytes are no private key of this kind")
        }
    }

    /// The key's 32 bytes: whoever has them can sign.
    ///
    /// - Returns: The bytes.
    public func cleartextRawRepresentation() -> Data {
        switch key {
        case .ed25519(let key): key.rawRepresentation
        case .p256(let key): key.rawRepresentation
        }
    }

    /// Reads a key from PEM: PKCS#8, not encrypted, or SEC 1 for P-256.
    ///
    /// Of Ed25519 it is the version of RFC 8410, section 7, that OpenSSL writes: the private key
    /// alone, without its public half and attributes.
    ///
    /// - Parameter pemRepresentation: The text.
    /// - Throws: `invalidKey` if it is no private key of one of the algorithms.
    public init(pemRepresentation: String) throws(SecurityError) {
        if let bytes = Ed25519PEM.rawKey(in: pemRepresentation),
            let found = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
        {
            key = .ed25519(found)
        } else if let found = try? P256.Signing.PrivateKey(pemRepresentation: pemRepresentation) {
            key = .p256(found)
        } else {
            throw SecurityError(.invalidKey, "the text is no private key of a known kind")
        }
    }

    /// What the key signs with.
    public var algorithm: SignatureAlgorithm {
        switch key {
        case .ed25519: .ed25519
        case .p256: .p256
        }
    }

    /// The key as PEM (PKCS#8), not encrypted: whoever has the text can sign.
    ///
    /// - Returns: The text.
    public func cleartextPEM() -> String {
        switch key {
        case .ed25519(let key): Ed25519PEM.text(of: key.rawRepresentation)
        case .p256(let key): key.pemRepresentation
        }
    }

    /// The key that verifies what this one signs.
    public var publicKey: VerificationKey {
        switch key {
        case .ed25519(let key): VerificationKey(key.publicKey)
        case .p256(let key): VerificationKey(key.publicKey)
        }
    }

    /// Signs data.
    ///
    /// - Parameter data: What to sign.
    /// - Returns: 64 bytes with Ed25519; with P-256 about 71, in DER.
    /// - Throws: `encryptionFailed` if the library refuses to sign.
    public func signature(for data: Data) throws(SecurityError) -> Data {
        do {
            switch key {
            case .ed25519(let key): return try key.signature(for: data)
            case .p256(let key): return try key.signature(for: data).derRepresentation
            }
        } catch {
            throw SecurityError(.encryptionFailed, "the data was not signed", cause: error)
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

    /// Reads a key from its bytes.
    ///
    /// - Parameters:
    ///   - rawRepresentation: 32 bytes for Ed25519; for P-256 the 65 of a point that is not
    ///     compressed (X9.63).
    ///   - algorithm: What the key verifies.
    /// - Throws: `invalidKey` if the bytes are no such key.
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
            throw SecurityError(.invalidKey, "the bytes are no public key of this kind")
        }
    }

    /// The key's bytes; nothing in them is secret.
    public var rawRepresentation: Data {
        switch key {
        case .ed25519(let key): key.rawRepresentation
        case .p256(let key): key.x963Representation
        }
    }

    /// Whether the owner of the private key has signed the data.
    ///
    /// - Parameters:
    ///   - signature: What ``SigningKey/signature(for:)`` returned.
    ///   - data: What was signed.
    /// - Returns: False also for bytes that are no signature.
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
#endif
