package import KeelSecurity

/// The algorithms of keysets, by the names of Tink's templates.
package enum KeyAlgorithmName: String, CaseIterable, Sendable {
    case aes256GCM = "AES256_GCM"
    case aes128GCM = "AES128_GCM"
    case aes256GCMSIV = "AES256_GCM_SIV"
    case chaCha20Poly1305 = "CHACHA20_POLY1305"
    case aes256GCMHKDF4KB = "AES256_GCM_HKDF_4KB"
    case aes256GCMHKDF64KB = "AES256_GCM_HKDF_64KB"
    case aes256GCMHKDF1MB = "AES256_GCM_HKDF_1MB"
    case hpkeX25519AES128GCM = "DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_128_GCM"
    case hpkeX25519AES256GCM = "DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM"
    case hpkeX25519ChaCha20Poly1305 = "DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_CHACHA20_POLY1305"

    package var algorithm: KeyAlgorithm {
        switch self {
        case .aes256GCM: .aes256GCM
        case .aes128GCM: .aes128GCM
        case .aes256GCMSIV: .aes256GCMSIV
        case .chaCha20Poly1305: .chaCha20Poly1305
        case .aes256GCMHKDF4KB: .aes256GCMHKDF4KB
        case .aes256GCMHKDF64KB: .aes256GCMHKDF64KB
        case .aes256GCMHKDF1MB: .aes256GCMHKDF1MB
        case .hpkeX25519AES128GCM: .hpkeX25519AES128GCM
        case .hpkeX25519AES256GCM: .hpkeX25519AES256GCM
        case .hpkeX25519ChaCha20Poly1305: .hpkeX25519ChaCha20Poly1305
        }
    }
}
