#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Keyset {
    /// The public halves of the keys, for those who are to encrypt for the owner of this keyset.
    ///
    /// Nothing in it is secret: write it with ``cleartextJSON()``. Give it out anew after each
    /// rotation.
    ///
    /// - Returns: A keyset for ``HybridEncryption``, without keys that are destroyed.
    /// - Throws: `invalidArgument` if the keys have no public halves.
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

/// Encrypts for the owner of private keys, with the public halves (HPKE, RFC 9180).
///
/// ```swift
/// let owner = try Keyset.make(.hpkeX25519AES256GCM)
/// let sealed = try HybridEncryption(publicKeyset: owner.publicKeyset()).encrypt(report)
/// let opened = try HybridDecryption(keyset: owner).decrypt(sealed)
/// ```
///
/// The form is that of Tink's hybrid encryption: `prefix ‖ encapsulated key ‖ ciphertext ‖ tag`. Who
/// encrypted is not authenticated: anybody with the public keyset can. Sign what has to have a
/// sender. Which key encrypts follows the keys' dates.
public struct HybridEncryption: Sendable {
    private let ring: KeyRing

    /// The public keys as they are now.
    public var publicKeyset: Keyset { ring.keyset }

    /// Uses a public keyset.
    ///
    /// - Parameters:
    ///   - publicKeyset: What ``Keyset/publicKeyset()`` returned, or Tink's libraries.
    ///   - now: The clock.
    /// - Throws: `invalidArgument` if the keys are for another purpose.
    public init(
        publicKeyset: Keyset,
        now: @escaping @Sendable () -> Date = { Date.now }
    ) throws(SecurityError) {
        guard publicKeyset.primary.algorithm.purpose == .hybridEncryption else {
            throw SecurityError(.invalidArgument, "the keyset is not one of public keys")
        }
        var configuration = KeyRing.Configuration()
        configuration.now = now
        ring = KeyRing(publicKeyset, configuration: configuration)
    }

    /// Encrypts data with the primary key, and authenticates it.
    ///
    /// - Parameters:
    ///   - data: What to encrypt, in memory; encrypt the key of a stream for what is larger.
    ///   - contextInfo: What the result belongs to; decryption needs the same bytes.
    /// - Returns: Another result each time, 53 bytes longer than `data` with the usual keys.
    /// - Throws: `keyNotFound` if the dates let no key encrypt, `encryptionFailed`.
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
            throw SecurityError(.encryptionFailed, "key \(key.id) encrypted nothing", cause: error)
        }
    }
}

/// Decrypts what others encrypted with the public halves of the keys (HPKE, RFC 9180).
public struct HybridDecryption: Sendable {
    private let ring: KeyRing

    /// The private keys as they are now.
    public var keyset: Keyset { ring.keyset }

    /// How many bytes the encapsulated key of X25519 has.
    private static let encapsulatedByteCount = 32

    /// Uses a keyset of private keys.
    ///
    /// - Parameter keyset: Keys of an algorithm with `hpke` in its name.
    /// - Throws: `invalidArgument` if the keys are for another purpose.
    public init(keyset: Keyset) throws(SecurityError) {
        try self.init(keys: KeyRing(keyset))
    }

    /// Uses private keys that others use too, such as the ring of a ``KeysetFile``, which follows
    /// what is written to the file.
    ///
    /// - Parameter keys: Keys of an algorithm with `hpke` in its name.
    /// - Throws: `invalidArgument` if the keys are for another purpose.
    public init(keys: KeyRing) throws(SecurityError) {
        guard keys.keyset.primary.algorithm.purpose == .hybridDecryption else {
            throw SecurityError(.invalidArgument, "the keyset is not one of private keys for HPKE")
        }
        ring = keys
    }

    /// Decrypts what was encrypted for any key of the keyset that is still enabled.
    ///
    /// - Parameters:
    ///   - data: What ``HybridEncryption/encrypt(_:contextInfo:)`` returned.
    ///   - contextInfo: The bytes that were given then.
    /// - Returns: What was encrypted.
    /// - Throws: `decryptionFailed` for anything else.
    public func decrypt(
        _ data: Data,
        contextInfo: Data = Data()
    ) throws(SecurityError) -> Data {
        // The prefix is only a hint: bytes for a key without one may begin in the same way.
        let keys = keyset.keys
        for isRaw in [false, true] {
            for key in keys where (key.prefix == .raw) == isRaw {
                if let plain = Self.open(data, key, contextInfo) { return plain }
            }
        }
        throw SecurityError(
            .decryptionFailed,
            "the data is damaged, belongs to another place, or needs a key that is not enabled"
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
#endif
