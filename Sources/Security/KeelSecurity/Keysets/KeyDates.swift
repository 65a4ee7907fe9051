#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The dates of a key's life cycle; keysets store whole seconds.
public struct KeyDates: Hashable, Sendable {
    /// The creation date; nil for a key that another program created.
    public var created: Date?
    /// The time before which the key only decrypts.
    public var notBefore: Date?
    /// The time from which the key only decrypts.
    public var expires: Date?
    /// The time from which the key is destroyed, unless it is the primary key.
    ///
    /// A ring that can save its keyset destroys the key on an encryption after this time is certain, because a clock
    /// can be years ahead for a while. The time is certain if the clock has shown it and, at least an hour later, a
    /// later time, and has not gone back in between. The rings of a ``KeysetFile`` store these times next to the file.
    /// Any other ring knows only the times of its own encryptions, so a program that ends within an hour destroys no
    /// key. ``Keyset/destroy(_:)`` destroys a key at once.
    public var destroyAfter: Date?

    /// Creates dates.
    public init(
        created: Date? = nil,
        notBefore: Date? = nil,
        expires: Date? = nil,
        destroyAfter: Date? = nil
    ) {
        self.created = created
        self.notBefore = notBefore
        self.expires = expires
        self.destroyAfter = destroyAfter
    }

    /// Returns whether a key with these dates may encrypt: from `notBefore`, inclusive, until `expires`, exclusive.
    public func allowsEncryption(at now: Date) -> Bool {
        if let notBefore, now < notBefore { return false }
        if let expires, now >= expires { return false }
        return true
    }
}
