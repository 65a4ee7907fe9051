#if Crypto
internal import Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The cipher that encrypts keysets under a key-encryption key.
///
/// The format is AES-256-GCM, written as `nonce ‖ ciphertext ‖ tag`: Tink's `AesGcmKey` with the prefix `RAW`.
struct KeysetCipher: Sendable {
    private let key: SymmetricKey

    init(_ key: KeyEncryptionKey) { self.key = SymmetricKey(data: key.bytes) }

    /// Creates a cipher with the key of a source.
    init(_ source: any KeyEncryptionKeySource) async throws(SecurityError) {
        do {
            self.init(try await source.keyEncryptionKey())
        } catch {
            if error is CancellationError || (error as? any KeelError)?.isCancellation == true {
                throw SecurityError(.cancelled, "waiting for the key-encryption key was canceled")
            }
            throw SecurityError(.keyStoreFailed, "there is no key-encryption key", cause: error)
        }
    }

    func seal(_ plain: [UInt8], _ associatedData: Data) throws(SecurityError) -> Data {
        do {
            let box = try AES.GCM.seal(plain, using: key, authenticating: associatedData)
            guard let combined = box.combined else { throw CryptoKitError.incorrectParameterSize }
            return combined
        } catch {
            throw SecurityError(
                .encryptionFailed,
                "the keyset could not be encrypted",
                cause: error
            )
        }
    }

    func open(_ sealed: Data, _ associatedData: Data) throws(SecurityError) -> Data {
        do {
            let box = try AES.GCM.SealedBox(combined: sealed)
            return try AES.GCM.open(box, using: key, authenticating: associatedData)
        } catch {
            throw SecurityError(
                .decryptionFailed,
                "the keyset is damaged, or encrypted under a different key-encryption key"
            )
        }
    }
}
#endif
