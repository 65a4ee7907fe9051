#if Crypto
internal import Crypto
internal import _CryptoExtras

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The parts of an enabled key that encryption and decryption need.
///
/// This is a class because copying a ``KeysetKey`` member by member takes a tenth of the time of a short message.
final class SealingKey: Sendable {
    /// The size of the nonce and the tag, the same for each cipher here.
    private static let overhead = 12 + 16

    let id: UInt32
    let prefix: KeysetKey.Prefix
    /// The prefix of each ciphertext as a five-byte number; unused by keys without a prefix.
    private let prefixNumber: UInt64
    private let cipher: KeyAlgorithm.Cipher
    private let material: SymmetricKey

    init?(_ key: KeysetKey) {
        guard let material = key.material, key.status == .enabled else { return nil }
        id = key.id
        prefix = key.prefix
        prefixNumber = UInt64(key.prefix.byte ?? 0) << 32 | UInt64(key.id)
        cipher = key.algorithm.cipher
        self.material = material
    }

    /// Returns the first five bytes as a number, or nil if there are fewer.
    static func start(of data: Data) -> UInt64? {
        guard data.count >= 5 else { return nil }
        return data.withUnsafeBytes { bytes in
            UInt64(bytes[0]) << 32
                | UInt64(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
        }
    }

    /// Returns `prefix ‖ nonce ‖ ciphertext ‖ tag`.
    func seal(
        _ plain: some DataProtocol,
        _ associatedData: some DataProtocol
    ) throws(SecurityError) -> Data {
        do {
            var combined: Data?
            switch cipher {
            case .aesGCM:
                combined =
                    try AES.GCM.seal(plain, using: material, authenticating: associatedData)
                    .combined
            case .aesGCMSIV:
                combined =
                    try AES.GCM._SIV.seal(plain, using: material, authenticating: associatedData)
                    .combined
            case .chaCha20Poly1305:
                combined =
                    try ChaChaPoly.seal(plain, using: material, authenticating: associatedData)
                    .combined
            case .streaming, .hybrid:
                throw SecurityError(.invalidArgument, "key \(id) is not for values")
            }
            guard var sealed = combined.take() else {
                throw CryptoKitError.incorrectParameterSize
            }
            insertPrefix(into: &sealed)
            return sealed
        } catch let error as SecurityError {
            throw error
        } catch {
            throw SecurityError(.encryptionFailed, "key \(id) failed to encrypt", cause: error)
        }
    }

    /// Inserts the prefix within the existing buffer if it can grow: a second buffer costs more than the cipher.
    private func insertPrefix(into sealed: inout Data) {
        guard prefix != .raw else { return }
        // The big-endian number has five significant bytes behind three that are skipped.
        withUnsafeBytes(of: prefixNumber.bigEndian) { bytes in
            guard let first = bytes.baseAddress else { return }
            let start = sealed.startIndex
            sealed.replaceSubrange(start..<start, with: first + 3, count: 5)
        }
    }

    /// Decrypts data, whose ``start(of:)`` is known, or returns nil.
    func open(_ sealed: Data, _ start: UInt64?, _ associatedData: some DataProtocol) -> Data? {
        let prefixCount = prefix == .raw ? 0 : 5
        guard sealed.count >= prefixCount + Self.overhead, prefix == .raw || start == prefixNumber
        else {
            return nil
        }
        let combined = sealed[(sealed.startIndex + prefixCount)...]
        switch cipher {
        case .aesGCM:
            guard let box = try? AES.GCM.SealedBox(combined: combined) else { return nil }
            return try? AES.GCM.open(box, using: material, authenticating: associatedData)
        case .aesGCMSIV:
            guard let box = try? AES.GCM._SIV.SealedBox(combined: combined) else { return nil }
            return try? AES.GCM._SIV.open(box, using: material, authenticating: associatedData)
        case .chaCha20Poly1305:
            guard let box = try? ChaChaPoly.SealedBox(combined: combined) else { return nil }
            return try? ChaChaPoly.open(box, using: material, authenticating: associatedData)
        case .streaming, .hybrid:
            return nil
        }
    }
}
#endif
