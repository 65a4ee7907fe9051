#if Crypto
internal import Crypto
internal import _CryptoExtras

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The private half of an RSA key, which decrypts data encrypted with the public half.
public struct RSAPrivateKey: Sendable {
    /// The public half, which may be shared.
    public let publicKey: RSAPublicKey
    /// The size of the modulus, and of each encrypted key, in bytes.
    private let size: Int
    // The library's type is not Sendable. A `SymmetricKey` overwrites its bytes after use.
    private let bytes: SymmetricKey

    /// Generates a key of 3072 bits, which takes about a second.
    ///
    /// - Throws: `invalidKey` if the library fails to generate one.
    public init() throws(SecurityError) {
        guard let key = try? _RSA.Encryption.PrivateKey(keySize: .bits3072) else {
            throw SecurityError(.invalidKey, "no RSA key could be generated")
        }
        self.init(key)
    }

    /// Reads a private key of at least 2048 bits from PEM.
    ///
    /// - Parameter pemRepresentation: PKCS#8 or PKCS#1, not encrypted.
    /// - Throws: `invalidKey` if the text is not such a key.
    public init(pemRepresentation: String) throws(SecurityError) {
        guard let key = try? _RSA.Encryption.PrivateKey(pemRepresentation: pemRepresentation) else {
            throw SecurityError(
                .invalidKey,
                "the text is not a private RSA key of at least 2048 bits"
            )
        }
        self.init(key)
    }

    private init(_ key: _RSA.Encryption.PrivateKey) {
        bytes = SymmetricKey(data: key.derRepresentation)
        publicKey = RSAPublicKey(key.publicKey)
        size = (key.keySizeInBits + 7) / 8
    }

    /// Returns the key as PEM (PKCS#8), not encrypted: anyone with the text has the key.
    ///
    /// - Returns: The PEM text.
    /// - Throws: `invalidKey` if the library cannot write the key.
    public func cleartextPEM() throws(SecurityError) -> String {
        guard let key = try? key() else {
            throw SecurityError(.invalidKey, "the key could not be encoded")
        }
        return key.pkcs8PEMRepresentation
    }

    /// Decrypts data that was encrypted for this key.
    ///
    /// - Parameters:
    ///   - data: The result of ``RSAPublicKey/encrypt(_:associatedData:)``.
    ///   - associatedData: The associated data passed to that call.
    /// - Returns: The plaintext.
    /// - Throws: `decryptionFailed` for anything else.
    public func decrypt(
        _ data: Data,
        associatedData: Data = Data()
    ) throws(SecurityError) -> Data {
        do {
            let dataKey = SymmetricKey(
                data: try key().decrypt(data.prefix(size), padding: .PKCS1_OAEP_SHA256)
            )
            guard dataKey.bitCount == 256 else { throw Self.refusal }
            let box = try AES.GCM.SealedBox(combined: data.dropFirst(size))
            return try AES.GCM.open(box, using: dataKey, authenticating: associatedData)
        } catch {
            // One error for all causes: the sender of the data must not learn which step failed.
            throw Self.refusal
        }
    }

    /// Decrypts a short secret that was encrypted with plain RSA-OAEP-SHA256.
    ///
    /// - Parameter wrapped: The result of ``RSAPublicKey/wrap(_:)``.
    /// - Returns: The secret.
    /// - Throws: `decryptionFailed` for anything else.
    public func unwrap(_ wrapped: Data) throws(SecurityError) -> Data {
        guard let secret = try? key().decrypt(wrapped, padding: .PKCS1_OAEP_SHA256) else {
            throw Self.refusal
        }
        return secret
    }

    private static let refusal = SecurityError(
        .decryptionFailed,
        "the data is damaged, has different associated data, or was encrypted for a different key"
    )

    private func key() throws -> _RSA.Encryption.PrivateKey {
        try bytes.withUnsafeBytes { try _RSA.Encryption.PrivateKey(derRepresentation: Data($0)) }
    }
}

extension RSAPrivateKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "RSA private key of \(size * 8) bits" }
    public var customMirror: Mirror { Mirror(self, children: ["bits": size * 8]) }
}
#endif
