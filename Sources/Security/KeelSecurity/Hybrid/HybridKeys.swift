#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Conversions of HPKE keys to the types of the cryptography library.
enum HybridKeys {
    /// Returns the public half of a private key, or nil if the bytes are not a private key.
    static func publicBytes(of material: SymmetricKey) -> [UInt8]? {
        (try? privateKey(material)).map { [UInt8]($0.publicKey.rawRepresentation) }
    }

    static func privateKey(
        _ material: SymmetricKey
    ) throws -> Curve25519.KeyAgreement.PrivateKey {
        try material.withUnsafeBytes { bytes in
            try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
        }
    }

    static func publicKey(_ material: SymmetricKey) throws -> Curve25519.KeyAgreement.PublicKey {
        try material.withUnsafeBytes { bytes in
            try Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes)
        }
    }

    static func suite(_ cipher: KeyAlgorithm.HybridCipher) -> HPKE.Ciphersuite {
        let aead: HPKE.AEAD =
            switch cipher {
            case .aes128GCM: .AES_GCM_128
            case .aes256GCM: .AES_GCM_256
            case .chaCha20Poly1305: .chaChaPoly
            }
        return HPKE.Ciphersuite(kem: .Curve25519_HKDF_SHA256, kdf: .HKDF_SHA256, aead: aead)
    }
}
#endif
