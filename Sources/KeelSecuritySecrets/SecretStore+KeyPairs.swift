#if Crypto
public import KeelSecrets
public import KeelSecurity

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Key pairs in a store of secrets.
///
/// The private key is kept as PEM (PKCS#8, RFC 5958), which other programs read; the public one is
/// computed from it. Of several tasks, and of several processes where the store compares across
/// them, that make a pair under one key at the same time, all get the same pair.
extension SecretStore {
    /// Returns the private key of a pair that signs, making the pair where there is none.
    ///
    /// - Parameters:
    ///   - algorithm: What the key signs with.
    ///   - key: The key of the secret.
    ///   - isMadeOnDemand: Whether a missing pair is made.
    /// - Returns: The private key.
    /// - Throws: `SecretError`, with the code `keyNotFound` where there is none and none is made,
    ///   and `invalidData` where the secret is no such key.
    public func privateKey(
        _ algorithm: SignatureAlgorithm,
        forKey key: String,
        creatingIfAbsent isMadeOnDemand: Bool = true
    ) async throws(SecretError) -> SigningKey {
        let text = try await text(forKey: key, isMadeOnDemand) { () throws(SecurityError) in
            SigningKey(algorithm).cleartextPEM()
        }
        guard let found = try? SigningKey(pemRepresentation: text), found.algorithm == algorithm
        else { throw notAKey(key) }
        return found
    }

    /// Returns the public key of a pair that signs, making the pair where there is none.
    ///
    /// - Parameters:
    ///   - algorithm: What the key signs with.
    ///   - key: The key of the secret.
    ///   - isMadeOnDemand: Whether a missing pair is made.
    /// - Returns: The public key.
    /// - Throws: What ``privateKey(_:forKey:creatingIfAbsent:)`` throws.
    public func publicKey(
        _ algorithm: SignatureAlgorithm,
        forKey key: String,
        creatingIfAbsent isMadeOnDemand: Bool = true
    ) async throws(SecretError) -> VerificationKey {
        try await privateKey(algorithm, forKey: key, creatingIfAbsent: isMadeOnDemand).publicKey
    }

    /// Returns the private key of an RSA pair, making the pair where there is none.
    ///
    /// Making one takes about a second.
    ///
    /// - Parameters:
    ///   - key: The key of the secret.
    ///   - isMadeOnDemand: Whether a missing pair is made.
    /// - Returns: The private key.
    /// - Throws: `SecretError`, with the code `keyNotFound` where there is none and none is made,
    ///   and `invalidData` where the secret is no such key.
    @concurrent
    public func rsaPrivateKey(
        forKey key: String,
        creatingIfAbsent isMadeOnDemand: Bool = true
    ) async throws(SecretError) -> RSAPrivateKey {
        let text = try await text(forKey: key, isMadeOnDemand) { () throws(SecurityError) in
            try RSAPrivateKey().cleartextPEM()
        }
        guard let found = try? RSAPrivateKey(pemRepresentation: text) else { throw notAKey(key) }
        return found
    }

    /// Returns the public key of an RSA pair, making the pair where there is none.
    ///
    /// - Parameters:
    ///   - key: The key of the secret.
    ///   - isMadeOnDemand: Whether a missing pair is made.
    /// - Returns: The public key.
    /// - Throws: What ``rsaPrivateKey(forKey:creatingIfAbsent:)`` throws.
    public func rsaPublicKey(
        forKey key: String,
        creatingIfAbsent isMadeOnDemand: Bool = true
    ) async throws(SecretError) -> RSAPublicKey {
        try await rsaPrivateKey(forKey: key, creatingIfAbsent: isMadeOnDemand).publicKey
    }

    // MARK: Parts

    private func text(
        forKey key: String,
        _ isMadeOnDemand: Bool,
        _ make: () throws(SecurityError) -> String
    ) async throws(SecretError) -> String {
        do throws(SecretError) {
            return try await loadString(forKey: key)
        } catch {
            guard error.code == .keyNotFound, isMadeOnDemand else { throw error }
        }
        let made: String
        do {
            made = try make()
        } catch {
            throw SecretError(.saveFailed, "No key pair could be made.", cause: error)
        }
        let isNew = try await compareAndSet(forKey: key, expected: nil, new: Data(made.utf8))
        // Where it is not new, another task or process has made a pair meanwhile.
        return isNew ? made : try await loadString(forKey: key)
    }

    private func notAKey(_ key: String) -> SecretError {
        SecretError(.invalidData, "The secret \(key) of \(service) is no key of this kind.")
    }
}
#endif
