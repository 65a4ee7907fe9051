#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How far the move of data from older keys to the primary one has come.
public struct ReencryptionReport: Hashable, Sendable {
    /// How many items the primary key had encrypted already.
    public internal(set) var current = 0
    /// How many items were encrypted anew, by the id of the key that they had.
    public internal(set) var moved: [UInt32: Int] = [:]
    /// How many items no enabled key opens; they are left as they are.
    public internal(set) var unreadable = 0

    /// Begins a report.
    public init() {}
}

extension KeyRing {
    /// Encrypts data with the primary key, if another key has encrypted it.
    ///
    /// Call it for each item after a rotation, and write what it returns in place of the item. When
    /// a whole pass has moved nothing and found nothing unreadable, the older keys can be disabled.
    ///
    /// - Parameters:
    ///   - data: What ``encrypt(_:associatedData:)`` returned.
    ///   - associatedData: The bytes that were given then.
    ///   - report: Counts the item.
    /// - Returns: The new form; nil if the item can stay as it is.
    /// - Throws: `decryptionFailed` for an item that no key opens, which is counted too, and the
    ///   errors of ``encrypt(_:associatedData:)``.
    public func reencrypt(
        _ data: Data,
        associatedData: some DataProtocol,
        report: inout ReencryptionReport
    ) throws(SecurityError) -> Data? {
        let old: (plain: Data, keyID: UInt32)
        do {
            old = try opened(data, associatedData)
        } catch {
            report.unreadable += 1
            throw error
        }
        guard old.keyID != keyset.primaryID else {
            report.current += 1
            return nil
        }
        let new = try encrypt(old.plain, associatedData: associatedData)
        report.moved[old.keyID, default: 0] += 1
        return new
    }
}
#endif
