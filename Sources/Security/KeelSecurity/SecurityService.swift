#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A service that encrypts, hashes and generates random bytes.
///
/// ```swift
/// let security = SecurityService(keyset: try Keyset.make(.aes256GCM))
/// let sealed = try security.encrypt(note, associatedData: Data("notes/1".utf8))
/// let plain = try security.decrypt(sealed, associatedData: Data("notes/1".utf8))
/// ```
///
/// Ciphertexts have Tink's format, so programs in other languages can read them with the same keyset. Encryption and
/// decryption are synchronous and can be called on any thread. Use ``StreamingEncryption`` for data that does not fit
/// in memory, and ``PasswordHasher`` for passwords: ``hash(_:)`` does not protect a password.
public struct SecurityService: Sendable {
    private let ring: KeyRing?
    private let opening: KeyOpening?
    var observer: (@Sendable (SecurityObservation) -> Void)?

    /// The keys of this service, or nil if it has none or they cannot currently be opened.
    ///
    /// If the service opens its keys on first use, reading this property opens them.
    public var keys: KeyRing? { try? keyRing() }

    /// Creates a service without keys, or with a shared key ring.
    public init(keys: KeyRing? = nil) {
        ring = keys
        opening = nil
    }

    /// Creates a service with a keyset, in a ring that cannot save it.
    public init(keyset: Keyset) { self.init(keys: KeyRing(keyset)) }

    /// Creates a service that opens its keys on first use.
    ///
    /// The first call that needs the keys blocks its thread until they are open. Where blocking matters, such as on the
    /// main actor, call ``prepare()`` first. All copies of the service share the keys. If opening throws, the call
    /// throws the same error, and the next call tries again.
    ///
    /// - Parameter open: Opens the keys. Concurrent first calls may each call it; the service keeps the first result.
    public init(opening open: @escaping @Sendable () async throws(SecurityError) -> KeyRing) {
        ring = nil
        opening = KeyOpening(open)
    }

    /// Opens the keys of a service that opens them on first use; does nothing for other services.
    ///
    /// - Throws: The error of opening the keys.
    public func prepare() async throws(SecurityError) { try await opening?.prepare() }

    /// Encrypts and authenticates data with the primary key.
    ///
    /// - Parameters:
    ///   - data: The plaintext.
    ///   - associatedData: The context that the ciphertext is bound to, such as a record's name. It is not stored, and
    ///     decryption needs the same bytes.
    /// - Returns: A ciphertext that differs each time, 33 bytes longer than `data` with the default kind of key.
    /// - Throws: The errors of ``KeyRing/encrypt(_:associatedData:)``, `keyNotFound` if the service has no keys, or the
    ///   error of opening the keys.
    public func encrypt(
        _ data: Data,
        associatedData: Data = Data()
    ) throws(SecurityError) -> Data {
        try observed(.encrypt, data.count) { () throws(SecurityError) in
            try keyRing().encrypt(data, associatedData: associatedData)
        }
    }

    /// Decrypts data with any enabled key of the keyset.
    ///
    /// - Parameters:
    ///   - data: The result of ``encrypt(_:associatedData:)``.
    ///   - associatedData: The associated data passed to that call.
    /// - Returns: The plaintext.
    /// - Throws: `keyNotFound` if the service has no keys, `decryptionFailed` for other data, or the error of opening
    ///   the keys.
    public func decrypt(
        _ data: Data,
        associatedData: Data = Data()
    ) throws(SecurityError) -> Data {
        try observed(.decrypt, data.count) { () throws(SecurityError) in
            try keyRing().decrypt(data, associatedData: associatedData)
        }
    }

    private func keyRing() throws(SecurityError) -> KeyRing {
        if let opening { return try opening.ring() }
        guard let ring else { throw SecurityError(.keyNotFound, "the service has no keyset") }
        return ring
    }
}
#else
/// A service that encrypts, hashes and generates random bytes.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package to use it.")
public struct SecurityService: Sendable {}
#endif
