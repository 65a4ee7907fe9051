#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// When a key came to be, and what becomes of it; whole seconds.
public struct KeyDates: Hashable, Sendable {
    /// When the key was made; nil for a key that another program made.
    public var created: Date?
    /// Before this time the key decrypts and does not encrypt, so that every reader can have it
    /// before anything is encrypted with it.
    public var notBefore: Date?
    /// From this time on the key decrypts and does not encrypt.
    public var expires: Date?
    /// From this time on the key is destroyed, unless it is the primary key.
    public var destroyAfter: Date?

    /// Creates dates.
    ///
    /// - Parameters:
    ///   - created: When the key was made.
    ///   - notBefore: When it may encrypt first.
    ///   - expires: When it may encrypt no longer.
    ///   - destroyAfter: When its bytes are given up.
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

    /// Whether a key with these dates may encrypt.
    ///
    /// - Parameter now: The time to ask about.
    /// - Returns: True from `notBefore` on and until `expires`.
    public func permitEncryption(at now: Date) -> Bool {
        if let notBefore, now < notBefore { return false }
        if let expires, now >= expires { return false }
        return true
    }
}
