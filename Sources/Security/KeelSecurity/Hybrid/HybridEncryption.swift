#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Keyset {
    /// Returns the public halves of the keys, for programs that encrypt for the owner of this keyset.
    ///
    /// Write the result with ``cleartextJSON()``, and distribute it after each rotation.
    ///
    /// - Returns: A keyset for ``HybridEncryption``, without destroyed keys.
    /// - Throws: `invalidArgument` if the keys are not private HPKE keys.
    public func publicKeyset() throws(SecurityError) -> Keyset {
        var halves: [KeysetKey] = []
        for key in keys where key.status != .destroyed {
            guard case .hybrid(let cipher, isPrivate: true) = key.algorithm.cipher,
                let half = key.material.flatMap({ HybridKeys.publicBytes(of: $0) })
            else {
                throw SecurityError(.invalidArgument, "the keyset has no public half")
            }
            halves.append(
                KeysetKey(
                    id: key.id,
                    algorithm: KeyAlgorithm(
                        cipher: .hybrid(cipher, isPrivate: false),
                        keyByteCount: half.count
                    ),
                    prefix: key.prefix,
                    status: key.status,
                    dates: key.dates,
                    material: SymmetricKey(data: half)
                )
            )
        }
        return try Keyset(keys: halves, primaryID: primaryID)
    }
}

/// An encryptor for the owner of private keys, using their public halves (HPKE, RFC 9180).
///
/// ```swift
/// let owner = try Keyset.make(.hpkeX25519AES256GCM)
/// let sealed = try HybridEncryption(publicKeyset: owner.publicKeyset()).encrypt(report)
/// let opened = try HybridDecryption(keyset: owner).decrypt(sealed)
/// ```
///
/// The format is that of Tink's hybrid encryption: `prefix ‖ encapsulated key ‖ ciphertext ‖ tag`. Anyone with the
/// public keyset can encrypt: sign data whose sender matters. The keys' dates decide which key encrypts.
public struct HybridEncryption: Sendable {
    private let ring: KeyRing

    /// The public keys in their current state.
    public var publicKeyset: Keyset { ring.keyset }

    /// Creates an encryptor with a public keyset.
    ///
    /// - Parameters:
    ///   - publicKeyset: The result of ``Keyset/publicKeyset()`` or of Tink's libraries.
    ///   - now: The clock.
    /// - Throws: `invalidArgument` if the keys are for another purpose.
    public init(
        publicKeyset: Keyset,
        now: @escaping @Sendable () -> Date = { Date.now }
    ) throws(SecurityError) {
        guard publicKeyset.primary.algorithm.purpose == .hybridEncryption else {
            throw SecurityError(.invalidArgument, "the keyset does not contain public keys")
        }
        var configuration = KeyRing.Configuration()
        configuration.now = now
        ring = KeyRing(publicKeyset, configuration: configuration)
    }

    /// Encrypts and authenticates data with the primary key.
    ///
    /// - Parameters:
    ///   - data: The plaintext. For data that does not fit in memory, encrypt the key of a stream.
    ///   - contextInfo: The context that the result is bound to; decryption needs the same bytes.
    /// - Returns: A ciphertext that differs each time, 53 bytes longer than `data` with the default kind of key.
    /// - Throws: `keyNotFound` if no key may encrypt at this time, or `encryptionFailed`.
    public func encrypt(
        _ data: Data,
        contextInfo: Data = Data()
    ) throws(SecurityError) -> Data {
        let key = try ring.primaryKey()
        guard let material = key.material, case .hybrid(let cipher, _) = key.algorithm.cipher else {
            throw SecurityError(.keyNotFound, "key \(key.id) is destroyed")
        }
        do {
            var sender = try HPKE.Sender(
                recipientKey: try HybridKeys.publicKey(material),
                ciphersuite: HybridKeys.suite(cipher),
                info: contextInfo
            )
            let sealed = try sender.seal(data)
            return Data(key.prefixBytes) + sender.encapsulatedKey + sealed
        } catch {
            throw SecurityError(.encryptionFailed, "key \(key.id) failed to encrypt", cause: error)
        }
    }
}

/// A decryptor for data that was encrypted with the public halves of its keys (HPKE, RFC 9180).
public struct HybridDecryption: Sendable {
    private let ring: KeyRing

    /// The private keys in their current state.
    public var keyset: Keyset { ring.keyset }

    private static let encapsulatedByteCount = 32

    /// Creates a decryptor with a keyset of private keys.
    ///
    /// - Parameter keyset: Keys of an algorithm with `hpke` in its name.
    /// - Throws: `invalidArgument` if the keys are for another purpose.
    public init(keyset: Keyset) throws(SecurityError) {
        try self.init(keys: KeyRing(keyset))
    }

    /// Creates a decryptor with a shared key ring, such as that of a ``KeysetFile``, which follows changes of the file.
    ///
    /// - Parameter keys: Keys of an algorithm with `hpke` in its name.
    /// - Throws: `invalidArgument` if the keys are for another purpose.
    public init(keys: KeyRing) throws(SecurityError) {
        guard keys.keyset.primary.algorithm.purpose == .hybridDecryption else {
            throw SecurityError(.invalidArgument, "the keyset does not contain private HPKE keys")
        }
        ring = keys
    }

    /// Decrypts data that was encrypted for any enabled key of the keyset.
    ///
    /// - Parameters:
    ///   - data: The result of ``HybridEncryption/encrypt(_:contextInfo:)``.
    ///   - contextInfo: The context passed to that call.
    /// - Returns: The plaintext.
    /// - Throws: `decryptionFailed` for anything else.
    public func decrypt(
        _ data: Data,
        contextInfo: Data = Data()
    ) throws(SecurityError) -> Data {
        // The prefix is only a hint: the output of a key without a prefix may begin with the same bytes.
        let keys = keyset.keys
        for isRaw in [false, true] {
            for key in keys where (key.prefix == .raw) == isRaw {
                if let plain = Self.open(data, key, contextInfo) { return plain }
            }
        }
        throw SecurityError(
            .decryptionFailed,
            "the data is damaged, has different associated data, or needs a key that is not enabled"
        )
    }

    private static func open(_ data: Data, _ key: KeysetKey, _ contextInfo: Data) -> Data? {
        let prefix = key.prefixBytes
        guard key.status == .enabled, let material = key.material,
            case .hybrid(let cipher, _) = key.algorithm.cipher,
            data.count >= prefix.count + encapsulatedByteCount, data.starts(with: prefix)
        else { return nil }
        let rest = data.dropFirst(prefix.count)
        guard let privateKey = try? HybridKeys.privateKey(material),
            var recipient = try? HPKE.Recipient(
                privateKey: privateKey,
                ciphersuite: HybridKeys.suite(cipher),
                info: contextInfo,
                encapsulatedKey: Data(rest.prefix(encapsulatedByteCount))
            )
        else { return nil }
        return try? recipient.open(Data(rest.dropFirst(encapsulatedByteCount)))
    }
}

enum HybridKeys {
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
