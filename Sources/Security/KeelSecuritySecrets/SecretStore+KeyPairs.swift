#if Crypto
public import KeelSecrets
public import KeelSecurity

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Key pairs in a secret store.
///
/// The private key is stored as PEM (PKCS#8, RFC 5958); the public key is computed from it. Tasks that create a pair
/// under one key at the same time all get the same pair, as do processes if the store compares across them.
extension SecretStore {
    /// Returns the private key of a signing key pair, creating the pair if it is missing.
    ///
    /// - Throws: `SecretError`, with the code `keyNotFound` if the pair is missing and not created, or `invalidData` if
    ///   the secret is not such a key.
    public func privateKey(
        _ algorithm: SignatureAlgorithm,
        forKey key: String,
        createsIfMissing: Bool = true
    ) async throws(SecretError) -> SigningKey {
        let text = try await text(forKey: key, createsIfMissing) { () throws(SecurityError) in
            SigningKey(algorithm).cleartextPEM()
        }
        guard let found = try? SigningKey(pemRepresentation: text), found.algorithm == algorithm
        else { throw notAKey(key) }
        return found
    }

    /// Returns the public key of a signing key pair, creating the pair if it is missing.
    ///
    /// It throws the errors of ``privateKey(_:forKey:createsIfMissing:)``.
    public func publicKey(
        _ algorithm: SignatureAlgorithm,
        forKey key: String,
        createsIfMissing: Bool = true
    ) async throws(SecretError) -> VerificationKey {
        try await privateKey(algorithm, forKey: key, createsIfMissing: createsIfMissing).publicKey
    }

    /// Returns the private key of an RSA key pair, creating the pair if it is missing.
    ///
    /// Creating a pair takes about a second.
    ///
    /// - Throws: `SecretError`, with the code `keyNotFound` if the pair is missing and not created, or `invalidData` if
    ///   the secret is not such a key.
    @concurrent
    public func rsaPrivateKey(
        forKey key: String,
        createsIfMissing: Bool = true
    ) async throws(SecretError) -> RSAPrivateKey {
        let text = try await text(forKey: key, createsIfMissing) { () throws(SecurityError) in
            try RSAPrivateKey().cleartextPEM()
        }
        guard let found = try? RSAPrivateKey(pemRepresentation: text) else { throw notAKey(key) }
        return found
    }

    /// Returns the public key of an RSA key pair, creating the pair if it is missing.
    ///
    /// It throws the errors of ``rsaPrivateKey(forKey:createsIfMissing:)``.
    public func rsaPublicKey(
        forKey key: String,
        createsIfMissing: Bool = true
    ) async throws(SecretError) -> RSAPublicKey {
        try await rsaPrivateKey(forKey: key, createsIfMissing: createsIfMissing).publicKey
    }

    // MARK: Parts

    private func text(
        forKey key: String,
        _ createsIfMissing: Bool,
        _ make: () throws(SecurityError) -> String
    ) async throws(SecretError) -> String {
        do throws(SecretError) {
            return try await loadString(forKey: key)
        } catch {
            guard error.code == .keyNotFound, createsIfMissing else { throw error }
        }
        let made: String
        do {
            made = try make()
        } catch {
            throw SecretError(.saveFailed, "No key pair could be generated.", cause: error)
        }
        let isNew = try await compareAndSet(forKey: key, expected: nil, new: Data(made.utf8))
        // If it is not new, another task or process has created a pair in the meantime.
        return isNew ? made : try await loadString(forKey: key)
    }

    private func notAKey(_ key: String) -> SecretError {
        SecretError(.invalidData, "The secret \(key) of \(service) is not a key of this algorithm.")
    }
}
#endif
