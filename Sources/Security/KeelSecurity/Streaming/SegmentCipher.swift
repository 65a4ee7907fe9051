#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The cipher of the segments of one stream.
///
/// Each stream has its own key, derived from its salt and its associated data. The nonce of a segment includes its
/// number and whether it is the last.
struct SegmentCipher: Sendable {
    let layout: SegmentLayout
    let header: Data
    private let key: SymmetricKey
    private let noncePrefix: Data

    init(_ key: KeysetKey, associatedData: Data) throws(SecurityError) {
        guard let layout = SegmentLayout(key.algorithm) else {
            throw SecurityError(.invalidArgument, "key \(key.id) is not for streams")
        }
        let random = try SecurityService().generateSecureRandomBytes(count: layout.headerCount - 1)
        let header = Data([UInt8(layout.headerCount)]) + random
        guard let cipher = Self(key, header: header, associatedData: associatedData) else {
            throw SecurityError(.keyNotFound, "key \(key.id) is destroyed")
        }
        self = cipher
    }

    init?(_ key: KeysetKey, header bytes: Data, associatedData: Data) {
        guard let layout = SegmentLayout(key.algorithm), let material = key.material,
            key.status == .enabled, bytes.count >= layout.headerCount,
            bytes.first.map(Int.init) == layout.headerCount
        else { return nil }
        self.layout = layout
        header = Data(bytes.prefix(layout.headerCount))
        noncePrefix = header.suffix(SegmentLayout.noncePrefixCount)
        self.key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: material,
            salt: header.dropFirst().prefix(layout.saltCount),
            info: associatedData,
            outputByteCount: layout.saltCount
        )
    }

    func seal(_ plain: Data, index: Int, isLast: Bool) throws(SecurityError) -> Data {
        guard let number = UInt32(exactly: index) else {
            throw SecurityError(.encryptionFailed, "the stream has too many segments")
        }
        do {
            let nonce = try nonce(number, isLast)
            guard let combined = try AES.GCM.seal(plain, using: key, nonce: nonce).combined else {
                throw CryptoKitError.incorrectParameterSize
            }
            return combined.dropFirst(12)
        } catch {
            throw SecurityError(.encryptionFailed, "a segment could not be encrypted", cause: error)
        }
    }

    func open(_ sealed: Data, index: Int, isLast: Bool) -> Data? {
        guard sealed.count >= SegmentLayout.tagCount, let number = UInt32(exactly: index),
            let nonce = try? nonce(number, isLast),
            let box = try? AES.GCM.SealedBox(
                nonce: nonce,
                ciphertext: sealed.dropLast(SegmentLayout.tagCount),
                tag: sealed.suffix(SegmentLayout.tagCount)
            )
        else { return nil }
        return try? AES.GCM.open(box, using: key)
    }

    private func nonce(_ number: UInt32, _ isLast: Bool) throws -> AES.GCM.Nonce {
        var bytes = noncePrefix
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(isLast ? 1 : 0)
        return try AES.GCM.Nonce(data: bytes)
    }
}
#endif
