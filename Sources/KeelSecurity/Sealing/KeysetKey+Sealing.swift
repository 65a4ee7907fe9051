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
            let combined: Data?
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
            guard let combined else { throw CryptoKitError.incorrectParameterSize }
            let prefix = prefixBytes
            guard !prefix.isEmpty else { return combined }
            var sealed = Data(capacity: prefix.count + combined.count)
            sealed.append(contentsOf: prefix)
            sealed.append(combined)
            return sealed
        } catch let error as SecurityError {
            throw error
        } catch {
            throw SecurityError(.encryptionFailed, "key \(id) encrypted nothing", cause: error)
        }
    }

    /// Returns what was sealed with this key; nil if it was not, whatever the reason.
    func open(_ sealed: Data, _ associatedData: some DataProtocol) -> Data? {
        guard let material, status == .enabled else { return nil }
        let prefix = prefixBytes
        guard sealed.count >= prefix.count + Self.overhead, sealed.starts(with: prefix) else {
            return nil
        }
        let combined = sealed.dropFirst(prefix.count)
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
