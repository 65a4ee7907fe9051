#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
    /// The bytes of the public half of a key for signatures.
    fileprivate var verificationBytes: Data? { publicBytes(of: "Ed25519") ?? p256Point }
}
#endif
