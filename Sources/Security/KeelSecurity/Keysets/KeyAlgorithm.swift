/// The purpose and algorithm of a key, named after Tink's key templates.
public struct KeyAlgorithm: Hashable, Sendable, CustomStringConvertible {
    enum Cipher: Hashable {
        case aesGCM
        case aesGCMSIV
        case chaCha20Poly1305
        /// AES-GCM-HKDF with SHA-256, in segments of this many encrypted bytes.
        case streaming(segment: Int, derivedKey: Int)
        /// HPKE with X25519 and HKDF-SHA256 (RFC 9180, base mode), for either half of the key.
        case hybrid(HybridCipher, isPrivate: Bool)
    }

    /// The cipher of HPKE's messages; the raw values are Tink's.
    enum HybridCipher: UInt64, CaseIterable {
        case aes128GCM = 1
        case aes256GCM = 2
        case chaCha20Poly1305 = 3
    }

    enum Purpose: Hashable {
        case values
        case streams
        case hybridDecryption
        case hybridEncryption
    }

    let cipher: Cipher
    let keyByteCount: Int

    /// AES-256-GCM, the default choice for values.
    public static let aes256GCM = Self(cipher: .aesGCM, keyByteCount: 32)
    /// AES-128-GCM, for keysets created elsewhere.
    public static let aes128GCM = Self(cipher: .aesGCM, keyByteCount: 16)
    /// ChaCha20-Poly1305, which is fast on processors without AES instructions.
    public static let chaCha20Poly1305 = Self(cipher: .chaCha20Poly1305, keyByteCount: 32)
    /// AES-256-GCM-SIV: a repeated nonce reveals only that two messages are equal.
    public static let aes256GCMSIV = Self(cipher: .aesGCMSIV, keyByteCount: 32)
    /// AES-256-GCM for streams in segments of 4 KiB, for random access to small parts.
    public static let aes256GCMHKDF4KB = streaming(4096)
    /// AES-256-GCM for streams in segments of 64 KiB, the default choice for files.
    public static let aes256GCMHKDF64KB = streaming(65_536)
    /// AES-256-GCM for streams in segments of 1 MiB.
    public static let aes256GCMHKDF1MB = streaming(1_048_576)

    /// HPKE with X25519 and AES-128-GCM: others encrypt with the public half.
    public static let hpkeX25519AES128GCM = hybrid(.aes128GCM)
    /// HPKE with X25519 and AES-256-GCM: others encrypt with the public half.
    public static let hpkeX25519AES256GCM = hybrid(.aes256GCM)
    /// HPKE with X25519 and ChaCha20-Poly1305: others encrypt with the public half.
    public static let hpkeX25519ChaCha20Poly1305 = hybrid(.chaCha20Poly1305)

    private static func hybrid(_ cipher: HybridCipher) -> Self {
        Self(cipher: .hybrid(cipher, isPrivate: true), keyByteCount: 32)
    }

    private static func streaming(_ segment: Int) -> Self {
        Self(cipher: .streaming(segment: segment, derivedKey: 32), keyByteCount: 32)
    }

    /// Whether keys of this algorithm encrypt streams instead of values.
    public var isStreaming: Bool { purpose == .streams }

    var purpose: Purpose {
        switch cipher {
        case .aesGCM, .aesGCMSIV, .chaCha20Poly1305: .values
        case .streaming: .streams
        case .hybrid(_, isPrivate: true): .hybridDecryption
        case .hybrid(_, isPrivate: false): .hybridEncryption
        }
    }

    public var description: String {
        switch cipher {
        case .aesGCM: "AES\(keyByteCount * 8)_GCM"
        case .aesGCMSIV: "AES\(keyByteCount * 8)_GCM_SIV"
        case .chaCha20Poly1305: "CHACHA20_POLY1305"
        case .streaming(let segment, let derived):
            "AES\(derived * 8)_GCM_HKDF_"
                + (segment >= 1 << 20 ? "\(segment >> 20)MB" : "\(segment >> 10)KB")
        case .hybrid(let cipher, let isPrivate):
            "DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_\(cipher.name)" + (isPrivate ? "" : ", public")
        }
    }
}

extension KeyAlgorithm.HybridCipher {
    fileprivate var name: String {
        switch self {
        case .aes128GCM: "AES_128_GCM"
        case .aes256GCM: "AES_256_GCM"
        case .chaCha20Poly1305: "CHACHA20_POLY1305"
        }
    }
}
