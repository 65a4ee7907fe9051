#if Crypto
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The key-encryption keys that a keyset may be encrypted under: one, or two while it moves.
struct KeysetCiphers: Sendable {
    private let all: [KeysetCipher]
    /// Why a source has no key, where another one has.
    private let problem: SecurityError?

    /// Asks the sources for their keys; one without a key is passed over as long as another has one.
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

    /// Reads a keyset under whichever key fits, and says which one that is.
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
            // The one that would fit may be the one that is missing.
            if error.code == .decryptionFailed, let problem { throw problem }
            throw error
        }
    }
}
#endif
