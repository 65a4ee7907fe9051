#if Crypto
internal import Crypto
internal import _CryptoExtras

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The public half of an RSA key, with which anyone can encrypt for its owner.
///
/// RSA-OAEP with SHA-256 encrypts a random 32-byte key, which encrypts the data with AES-256-GCM. The result of
/// ``encrypt(_:associatedData:)`` is the encrypted key, as long as the RSA key, nonce, ciphertext and tag.
public struct RSAPublicKey: Sendable {
    let bytes: Data

    /// Reads a public key of at least 2048 bits from PEM.
    ///
    /// - Parameter pemRepresentation: SPKI or PKCS#1.
    /// - Throws: `invalidKey` if the text is not such a key.
    public init(pemRepresentation: String) throws(SecurityError) {
        guard let key = try? _RSA.Encryption.PublicKey(pemRepresentation: pemRepresentation) else {
            throw SecurityError(
                .invalidKey,
                "the text is not a public RSA key of at least 2048 bits"
            )
        }
        bytes = key.derRepresentation
    }

    init(_ key: _RSA.Encryption.PublicKey) { bytes = key.derRepresentation }

    /// The key as PEM.
    public var pemRepresentation: String { (try? key().pemRepresentation) ?? "" }

    /// Encrypts data of any size for the owner of the key.
    ///
    /// - Parameters:
    ///   - data: The plaintext.
    ///   - associatedData: The context that the result is bound to; decryption needs the same bytes.
    /// - Returns: The encrypted key, nonce, ciphertext and tag.
    /// - Throws: `encryptionFailed`.
    public func encrypt(
        _ data: Data,
        associatedData: Data = Data()
    ) throws(SecurityError) -> Data {
        let dataKey = SymmetricKey(size: .bits256)
        do {
            let wrapped = try dataKey.withUnsafeBytes { bytes in
                try key().encrypt(Data(bytes), padding: .PKCS1_OAEP_SHA256)
            }
            let box = try AES.GCM.seal(data, using: dataKey, authenticating: associatedData)
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            return wrapped + combined
        } catch {
            throw SecurityError(.encryptionFailed, "the data could not be encrypted", cause: error)
        }
    }

    /// Encrypts a short secret, such as a key, with plain RSA-OAEP-SHA256.
    ///
    /// - Parameter secret: At most 190 bytes with a 2048-bit key, 318 with a 3072-bit key.
    /// - Returns: As many bytes as the key has.
    /// - Throws: `encryptionFailed` if the secret is too long.
    public func wrap(_ secret: Data) throws(SecurityError) -> Data {
        do {
            return try key().encrypt(secret, padding: .PKCS1_OAEP_SHA256)
        } catch {
            throw SecurityError(
                .encryptionFailed,
                "the secret could not be encrypted",
                cause: error
            )
        }
    }

    // The library's type is not Sendable. Creating it for each call is cheap compared with the call.
    private func key() throws -> _RSA.Encryption.PublicKey {
        try _RSA.Encryption.PublicKey(derRepresentation: bytes)
    }
}
#endif
