#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Keys for one purpose: a primary key that encrypts, and others that still decrypt.
///
/// ```swift
/// var keyset = try Keyset.make(.aes256GCM)
/// try keyset.rotate()
/// let bytes = try await keyset.encrypted(under: keyFile)
/// ```
///
/// A keyset is written in Tink's format, as JSON or binary, so Tink's libraries and `tinkey` can read it. Dates and
/// counters are stored in a field of each key that Tink skips; a Tink program that rewrites the keyset drops them. A
/// ``KeyRing`` encrypts with a keyset.
public struct Keyset: Sendable {
    /// The keys, oldest first, including destroyed ones; those that wait for their `notBefore` follow the primary key.
    public internal(set) var keys: [KeysetKey]
    /// The id of the key that encrypts.
    public internal(set) var primaryID: UInt32

    init(keys: [KeysetKey], primaryID: UInt32) throws(SecurityError) {
        self.keys = keys
        self.primaryID = primaryID
        try check()
    }

    /// Creates a keyset with one new key.
    ///
    /// - Parameters:
    ///   - algorithm: The algorithm of the key.
    ///   - prefix: The prefix of each ciphertext.
    ///   - dates: The dates of the key; `created` defaults to now.
    /// - Returns: The keyset.
    /// - Throws: `invalidArgument` if the dates forbid the key to encrypt now, or for the algorithm of a public key.
    public static func make(
        _ algorithm: KeyAlgorithm,
        prefix: KeysetKey.Prefix = .tink,
        dates: KeyDates = KeyDates()
    ) throws(SecurityError) -> Keyset {
        let now = Date.now
        guard algorithm.purpose != .hybridEncryption else {
            throw SecurityError(
                .invalidArgument,
                "a public key cannot be generated without its private key"
            )
        }
        guard dates.allowsEncryption(at: now) else {
            throw SecurityError(.invalidArgument, "the dates do not allow the first key to encrypt")
        }
        var key = newKey(algorithm, prefix, dates, at: now, avoiding: [])
        key.fingerprint = SymmetricKey(size: .bits256)
        return try Keyset(keys: [key], primaryID: key.id)
    }

    /// The key that encrypts.
    public var primary: KeysetKey {
        // The initializer has checked that it exists, and no change removes it.
        keys.first { $0.id == primaryID } ?? keys[0]
    }

    /// Returns the key with the given id, destroyed or not, or nil if there is none.
    public func key(_ id: UInt32) -> KeysetKey? { keys.first { $0.id == id } }

    static func newKey(
        _ algorithm: KeyAlgorithm,
        _ prefix: KeysetKey.Prefix,
        _ dates: KeyDates,
        at now: Date,
        avoiding keys: [KeysetKey]
    ) -> KeysetKey {
        var dates = dates
        dates.created = dates.created ?? now
        var id = UInt32.random(in: 1...UInt32.max)
        while keys.contains(where: { $0.id == id }) { id = .random(in: 1...UInt32.max) }
        return KeysetKey(
            id: id,
            algorithm: algorithm,
            prefix: prefix,
            status: .enabled,
            dates: dates,
            material: SymmetricKey(size: SymmetricKeySize(bitCount: algorithm.keyByteCount * 8))
        )
    }

    private func check() throws(SecurityError) {
        guard !keys.isEmpty else { throw SecurityError(.invalidKey, "the keyset has no keys") }
        guard Set(keys.map(\.id)).count == keys.count else {
            throw SecurityError(.invalidKey, "two keys of the keyset have the same id")
        }
        guard let primary = key(primaryID), primary.status == .enabled else {
            throw SecurityError(.invalidKey, "the keyset has no enabled primary key")
        }
        guard Set(keys.map(\.algorithm.purpose)).count == 1 else {
            throw SecurityError(.invalidKey, "the keyset mixes keys for different purposes")
        }
    }
}

extension Keyset: CustomStringConvertible, CustomReflectable {
    public var description: String { "keyset of \(keys.count), primary \(primaryID)" }
    public var customMirror: Mirror { Mirror(self, children: ["primaryID": primaryID]) }
}
#endif
