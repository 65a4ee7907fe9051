#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Encrypts, hashes and makes random bytes, with the keys that an app gave it.
///
/// ```swift
/// let security = SecurityService(keyset: try Keyset.make(.aes256GCM))
/// let sealed = try security.encrypt(note, associatedData: Data("notes/1".utf8))
/// let plain = try security.decrypt(sealed, associatedData: Data("notes/1".utf8))
/// ```
///
/// What it encrypts has the form of Tink, so that programs in other languages can read it with the
/// same keyset. All calls are synchronous and may run on any thread. For data that does not fit in
/// memory there is ``StreamingEncryption``, and for passwords ``PasswordHasher``: a hash made by
/// ``hash(_:)`` is no protection for a password.
public struct SecurityService: Sendable {
    private let ring: KeyRing?
    private let opening: KeyOpening?
    var observer: (@Sendable (SecurityObservation) -> Void)?

    /// The keys of this service; nil if it only hashes and makes random bytes, or if its keys cannot
    /// be opened just now.
    ///
    /// Those of a service that opens its keys at the first use are opened by it.
    public var keys: KeyRing? { try? keyRing() }

    /// Creates a service without keys, or with keys that others use too.
    ///
    /// - Parameter keys: The keys to encrypt and decrypt with.
    public init(keys: KeyRing? = nil) {
        ring = keys
        opening = nil
    }

    /// Creates a service with a keyset that does not change while the program runs.
    ///
    /// - Parameter keyset: The keys to encrypt and decrypt with.
    public init(keyset: Keyset) { self.init(keys: KeyRing(keyset)) }

    /// Creates a service that opens its keys at the first use, for a place that cannot wait.
    ///
    /// The first call that needs them waits for them with its thread, as for a file: call
    /// ``prepare()`` before where that matters, on the main actor for example. All copies of the
    /// service share the keys. If the opening throws, so does the call, and the next call opens again.
    ///
    /// - Parameter open: Opens the keys.
    public init(opening open: @escaping @Sendable () async throws(SecurityError) -> KeyRing) {
        ring = nil
        opening = KeyOpening(open)
    }

    /// Opens the keys of a service that opens them at the first use; others have nothing to do.
    ///
    /// - Throws: The opening's error.
    public func prepare() async throws(SecurityError) { try await opening?.prepare() }

    /// Encrypts data with the primary key, and authenticates it.
    ///
    /// - Parameters:
    ///   - data: What to encrypt.
    ///   - associatedData: What the result belongs to, a record's name for example; it is not
    ///     stored, and decryption needs the same bytes.
    /// - Returns: Another result each time, 33 bytes longer than `data` with the usual keys.
    /// - Throws: `keyNotFound`, `usageLimitReached`, `keyStoreFailed` or `encryptionFailed`, and
    ///   what opening the keys throws.
    public func encrypt(
        _ data: Data,
        associatedData: Data = Data()
    ) throws(SecurityError) -> Data {
        try observed(.encrypt, data.count) { () throws(SecurityError) in
            try keyRing().encrypt(data, associatedData: associatedData)
        }
    }

    /// Decrypts what was encrypted with any key of the keyset that is still enabled.
    ///
    /// - Parameters:
    ///   - data: What ``encrypt(_:associatedData:)`` returned.
    ///   - associatedData: The bytes that were given then.
    /// - Returns: What was encrypted.
    /// - Throws: `keyNotFound` if the service has no keys, and `decryptionFailed` for data that was
    ///   changed, moved, or made with another key; what opening the keys throws.
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
/// Encrypts, hashes and makes random bytes, with the keys that an app gave it.
@available(*, unavailable, message: "Enable the 'Crypto' trait of the keel package to use it.")
public struct SecurityService: Sendable {}
#endif
