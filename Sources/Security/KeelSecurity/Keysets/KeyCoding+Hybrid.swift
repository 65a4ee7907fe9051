#if Crypto
internal import Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Tink's messages of keys for HPKE.
///
///     HpkeParams     { kem = 1, kdf = 2, aead = 3 }
///     HpkePublicKey  { version = 1, params = 2, public_key = 3 }
///     HpkePrivateKey { version = 1, public_key = 2 (HpkePublicKey), private_key = 3 }
extension KeyCoding {
    /// DHKEM with X25519 and HKDF with SHA-256, both of which have the number 1.
    private static let x25519: UInt64 = 1
    private static let sha256: UInt64 = 1

    static func hybrid(
        _ key: KeysetKey,
        _ cipher: KeyAlgorithm.HybridCipher,
        isPrivate: Bool,
        to writer: inout ProtobufWriter
    ) {
        let zeros = [UInt8](repeating: 0, count: key.algorithm.keyByteCount)
        let material = key.material
        guard isPrivate else {
            write(material?.withUnsafeBytes { Array($0) } ?? zeros, cipher, to: &writer)
            return
        }
        let publicKey = material.flatMap { HybridKeys.publicBytes(of: $0) } ?? zeros
        writer.message(2) { write(publicKey, cipher, to: &$0) }
        if let material {
            material.withUnsafeBytes { writer.data(3, $0) }
        } else {
            writer.data(3, zeros)
        }
    }

    private static func write(
        _ publicKey: [UInt8],
        _ cipher: KeyAlgorithm.HybridCipher,
        to writer: inout ProtobufWriter
    ) {
        writer.message(2) { parameters in
            parameters.varint(1, x25519)
            parameters.varint(2, sha256)
            parameters.varint(3, cipher.rawValue)
        }
        writer.data(3, publicKey)
    }

    /// Reads the parameters of a key and verifies that its two halves match.
    static func hybridCipher(
        of value: ArraySlice<UInt8>,
        _ id: UInt32,
        isPrivate: Bool,
        isDestroyed: Bool
    ) throws(SecurityError) -> KeyAlgorithm.HybridCipher {
        let outer = try HybridFields(value)
        let half = isPrivate ? try HybridFields(outer.message ?? []) : outer
        guard let cipher = try half.cipher(id), half.version == 0 else {
            throw SecurityError(.unsupportedKey, "key \(id) uses an unknown variant of HPKE")
        }
        guard isPrivate, !isDestroyed else { return cipher }
        guard let secret = outer.bytes, let given = half.bytes,
            HybridKeys.publicBytes(of: SymmetricKey(data: secret)) == Array(given)
        else {
            throw SecurityError(
                .invalidKey,
                "the public and private parts of key \(id) do not match"
            )
        }
        return cipher
    }

    /// The fields of either message, which share their numbers.
    private struct HybridFields {
        var version: UInt64 = 0
        /// The parameters, or the public half of a private key.
        var message: ArraySlice<UInt8>?
        var bytes: ArraySlice<UInt8>?

        init(_ value: ArraySlice<UInt8>) throws(SecurityError) {
            var reader = ProtobufReader(value)
            while let (field, value) = reader.next() {
                switch (field, value) {
                case (1, .varint(let number)): version = number
                case (2, .data(let data)): message = data
                case (3, .data(let data)): bytes = data
                default: break
                }
            }
            guard !reader.isDamaged else {
                throw SecurityError(.invalidKey, "a key of the keyset is damaged")
            }
        }

        /// Returns the cipher of the parameters, or nil if they are not supported.
        func cipher(_ id: UInt32) throws(SecurityError) -> KeyAlgorithm.HybridCipher? {
            var numbers: [Int: UInt64] = [:]
            var reader = ProtobufReader(message ?? [])
            while let (field, value) = reader.next() {
                if case .varint(let number) = value { numbers[Int(field)] = number }
            }
            guard !reader.isDamaged, bytes?.count == 32 else {
                throw SecurityError(.invalidKey, "key \(id) is damaged")
            }
            guard numbers[1] == x25519, numbers[2] == sha256 else { return nil }
            return numbers[3].flatMap { KeyAlgorithm.HybridCipher(rawValue: $0) }
        }
    }
}
#endif
