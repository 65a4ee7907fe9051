#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Keyset {
    /// Adds a new key that encrypts from now on; the other keys continue to decrypt.
    ///
    /// - Parameters:
    ///   - algorithm: The algorithm of the key, or nil for that of the primary key.
    ///   - dates: The dates of the key. With `notBefore` in the future, the key becomes the primary key only in
    ///     ``advance(to:)``.
    ///   - now: The current time.
    /// - Returns: The id of the new key.
    /// - Throws: `invalidArgument` if the dates never allow the key to encrypt, if its purpose differs from that of the
    ///   other keys, or for a keyset of public keys: rotate the private keyset instead.
    @discardableResult
    public mutating func rotate(
        to algorithm: KeyAlgorithm? = nil,
        dates: KeyDates = KeyDates(),
        at now: Date = .now
    ) throws(SecurityError) -> UInt32 {
        let algorithm = algorithm ?? primary.algorithm
        guard algorithm.purpose == primary.algorithm.purpose else {
            throw SecurityError(.invalidArgument, "all keys of a keyset must have the same purpose")
        }
        guard algorithm.purpose != .hybridEncryption else {
            throw SecurityError(
                .invalidArgument,
                "a public keyset cannot be rotated: rotate the private keyset"
            )
        }
        guard dates.allowsEncryption(at: max(now, dates.notBefore ?? now)) else {
            throw SecurityError(.invalidArgument, "the dates do not allow the new key to encrypt")
        }
        var key = Self.newKey(algorithm, primary.prefix, dates, at: now, avoiding: keys)
        // Fingerprints must survive every rotation, so each key carries their secret, even beyond the life of the key
        // that it was derived from.
        key.fingerprint = fingerprintKey
        keys.append(key)
        if dates.allowsEncryption(at: now) { makePrimary(key.id, at: now) }
        return key.id
    }

    /// Makes another key the primary key, which encrypts.
    ///
    /// - Throws: `keyNotFound` for an unknown id, or `invalidArgument` if the key is not enabled.
    public mutating func setPrimary(_ id: UInt32, at now: Date = .now) throws(SecurityError) {
        guard keys[try index(of: id)].status == .enabled else {
            throw SecurityError(.invalidArgument, "key \(id) is not enabled")
        }
        makePrimary(id, at: now)
        // Clear start dates that have passed, so that `advance(to:)` does not override this choice.
        for index in keys.indices {
            guard let start = keys[index].dates.notBefore, start <= now else { continue }
            keys[index].dates.notBefore = nil
        }
    }

    /// Allows a key to decrypt again.
    ///
    /// - Throws: `keyNotFound` for an unknown id, or `invalidArgument` if the key is destroyed.
    public mutating func enable(_ id: UInt32) throws(SecurityError) {
        try change(id) { $0.status = .enabled }
    }

    /// Prevents a key from decrypting until it is enabled.
    ///
    /// - Throws: `keyNotFound` for an unknown id, or `invalidArgument` for the primary key and for a destroyed key.
    public mutating func disable(_ id: UInt32) throws(SecurityError) {
        try refusePrimary(id)
        try change(id) { $0.status = .disabled }
    }

    /// Destroys the bytes of a key: data that it encrypted can no longer be decrypted.
    ///
    /// - Throws: `keyNotFound` for an unknown id, or `invalidArgument` for the primary key and for a destroyed key.
    public mutating func destroy(_ id: UInt32) throws(SecurityError) {
        try refusePrimary(id)
        let fingerprintKey = fingerprintKey
        try change(id) { key in
            key.destroy()
            key.fingerprint = nil
        }
        if let index = keys.firstIndex(where: { $0.id == primaryID }) {
            keys[index].fingerprint = fingerprintKey
        }
    }

    /// Changes the dates of a key.
    ///
    /// - Throws: `keyNotFound` for an unknown id, or `invalidArgument` if the key is destroyed.
    public mutating func setDates(_ dates: KeyDates, of id: UInt32) throws(SecurityError) {
        try change(id) { $0.dates = dates }
    }

    /// Chooses the primary key by the dates of the keys.
    ///
    /// The last key after the primary key whose `notBefore` has passed becomes the primary key. Otherwise, if the
    /// primary key may no longer encrypt, the newest key that may encrypt replaces it.
    ///
    /// - Returns: Whether the primary key changed, so that the keyset needs to be saved.
    @discardableResult
    public mutating func advance(to now: Date = .now) -> Bool {
        let place = keys.firstIndex { $0.id == primaryID } ?? 0
        let later = keys[place...].dropFirst().last { key in
            key.status == .enabled && key.dates.notBefore != nil
                && key.dates.allowsEncryption(at: now)
        }
        let substitute =
            primary.dates.allowsEncryption(at: now)
            ? nil
            : keys.last { $0.status == .enabled && $0.dates.allowsEncryption(at: now) }
        guard let next = later ?? substitute else { return false }
        makePrimary(next.id, at: now)
        return true
    }

    /// Changes the primary key, and keeps behind it the keys that wait for their start date.
    ///
    /// ``advance(to:)`` looks only behind the primary key: those before it were primary, or were passed over.
    private mutating func makePrimary(_ id: UInt32, at now: Date) {
        let place = keys.firstIndex { $0.id == primaryID } ?? 0
        let waiting = keys[place...].dropFirst().filter { now < $0.dates.notBefore ?? now }
        keys.removeAll { key in waiting.contains { $0.id == key.id } }
        keys += waiting
        primaryID = id
    }

    /// Destroys the keys whose `destroyAfter` has passed, except the primary key.
    ///
    /// The data that they encrypted can no longer be decrypted. A ``KeyRing`` that can save its keyset needs no call,
    /// because it destroys keys once their time is certain (``KeyDates/destroyAfter``).
    ///
    /// - Parameter now: A time that has surely been reached, such as that of a server: a device's clock can be years
    ///   ahead.
    /// - Returns: Whether there were any, so that the keyset needs to be saved.
    @discardableResult
    public mutating func destroyKeys(dueAt now: Date) -> Bool {
        var isChanged = false
        for key in keys where key.id != primaryID && key.status != .destroyed {
            guard let end = key.dates.destroyAfter, now >= end else { continue }
            isChanged = (try? destroy(key.id)) != nil || isChanged
        }
        return isChanged
    }

    /// The secret of the keyset's fingerprints.
    ///
    /// It is carried by a key or, in a keyset that another program created, derived from the oldest key.
    var fingerprintKey: SymmetricKey {
        if let carried = keys.lazy.compactMap(\.fingerprint).first { return carried }
        let oldest = keys.lazy.compactMap(\.material).first ?? SymmetricKey(size: .bits256)
        return HKDF<SHA256>.deriveKey(
            inputKeyMaterial: oldest,
            info: Array("keel fingerprint v1".utf8),
            outputByteCount: 32
        )
    }

    func index(of id: UInt32) throws(SecurityError) -> Int {
        guard let index = keys.firstIndex(where: { $0.id == id }) else {
            throw SecurityError(.keyNotFound, "the keyset has no key \(id)")
        }
        return index
    }

    private mutating func change(
        _ id: UInt32,
        _ body: (inout KeysetKey) -> Void
    ) throws(SecurityError) {
        let index = try index(of: id)
        guard keys[index].status != .destroyed else {
            throw SecurityError(.invalidArgument, "key \(id) is destroyed")
        }
        body(&keys[index])
    }

    private func refusePrimary(_ id: UInt32) throws(SecurityError) {
        guard id != primaryID else {
            throw SecurityError(.invalidArgument, "key \(id) is the primary key; rotate first")
        }
    }
}
#endif
