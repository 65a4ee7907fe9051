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

/// The key-encryption keys that a keyset may be encrypted under: one, or two during a change.
struct KeysetCiphers: Sendable {
    private let all: [KeysetCipher]
    /// The error of a source that failed while another one succeeded.
    private let problem: SecurityError?

    /// Asks the sources for their keys; fails only if none has a key.
    init(_ sources: [any KeyEncryptionKeySource]) async throws(SecurityError) {
        var all: [KeysetCipher] = []
        var problem: SecurityError?
        for source in sources {
            do throws(SecurityError) {
                all.append(try await KeysetCipher(source))
            } catch {
                guard error.code != .cancelled else { throw error }
                problem = problem ?? error
            }
        }
        if let problem, all.isEmpty { throw problem }
        self.all = all
        self.problem = problem
    }

    /// Decrypts a keyset with the first key that fits, and returns both.
    func open(
        _ content: [UInt8],
        _ associatedData: Data
    ) throws(SecurityError) -> (keyset: Keyset, cipher: KeysetCipher) {
        for cipher in all.dropLast() {
            do throws(SecurityError) {
                return (try Keyset(Data(content), cipher, associatedData), cipher)
            } catch {
                guard error.code == .decryptionFailed else { throw error }
            }
        }
        do throws(SecurityError) {
            guard let last = all.last else {
                throw SecurityError(.keyStoreFailed, "there is no key-encryption key")
            }
            return (try Keyset(Data(content), last, associatedData), last)
        } catch {
            // The matching key may be the missing one.
            if error.code == .decryptionFailed, let problem { throw problem }
            throw error
        }
    }
}
#endif
