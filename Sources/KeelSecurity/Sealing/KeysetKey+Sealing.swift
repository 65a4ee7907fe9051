#if Crypto
internal import Crypto
internal import _CryptoExtras

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension KeysetKey {
    /// Nonce and tag, which each cipher here adds.
    static let overhead = 12 + 16

    /// Returns `prefix ‖ nonce ‖ ciphertext ‖ tag`.
    func seal(
        _ plain: some DataProtocol,
        _ associatedData: some DataProtocol
    ) throws(SecurityError) -> Data {
        guard let material else { throw SecurityError(.keyNotFound, "key \(id) is destroyed") }
        do {
            var combined: Data?
            switch algorithm.cipher {
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
            throw SecurityError(.encryptionFailed, "key \(id) encrypted nothing", cause: error)
        }
    }

    /// Moves what is there up, in the memory that it has where that can grow: ciphers work at
    /// gigabytes a second, and a second buffer of fresh memory costs more than they do.
    private func insertPrefix(into sealed: inout Data) {
        guard let kind = prefix.byte else { return }
        // Big-endian in memory, behind three bytes that are left out.
        let bytes = (UInt64(kind) << 32 | UInt64(id)).bigEndian
        withUnsafeBytes(of: bytes) { bytes in
            sealed.replaceSubrange(
                sealed.startIndex..<sealed.startIndex,
                with: bytes.baseAddress! + 3,
                count: 5
            )
        }
    }

    /// Whether these bytes begin with what stands before this key's results.
    func hasPrefix(_ sealed: Data) -> Bool {
        guard let kind = prefix.byte else { return true }
        // What the closure takes along is copied: the number, not the key.
        let id = id
        return sealed.withUnsafeBytes { bytes in
            bytes.count >= 5 && bytes[0] == kind
                && bytes.loadUnaligned(fromByteOffset: 1, as: UInt32.self).bigEndian == id
        }
    }

    /// Returns what was sealed with this key; nil if it was not, whatever the reason.
    func open(_ sealed: Data, _ associatedData: some DataProtocol) -> Data? {
        guard let material, status == .enabled else { return nil }
        guard sealed.count >= prefixCount + Self.overhead, hasPrefix(sealed) else { return nil }
        let combined = sealed.dropFirst(prefixCount)
        switch algorithm.cipher {
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
