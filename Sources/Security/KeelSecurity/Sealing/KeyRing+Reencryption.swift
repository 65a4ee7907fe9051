#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The progress of moving data from older keys to the primary key.
public struct ReencryptionReport: Hashable, Sendable {
    /// The number of items that the primary key had already encrypted.
    public internal(set) var current = 0
    /// The number of reencrypted items, by the id of their former key.
    public internal(set) var moved: [UInt32: Int] = [:]
    /// The number of items that no enabled key decrypts; they are left unchanged.
    public internal(set) var unreadable = 0

    /// Creates an empty report.
    public init() {}
}

extension KeyRing {
    /// Encrypts data with the primary key if it was encrypted with another one.
    ///
    /// Call this method for each item after a rotation, and replace the item with the result. When a whole pass has
    /// moved nothing and found nothing unreadable, the older keys can be disabled.
    ///
    /// - Parameters:
    ///   - data: The result of ``encrypt(_:associatedData:)``.
    ///   - associatedData: The associated data passed to that call.
    ///   - report: The report that counts the item.
    /// - Returns: The new ciphertext, or nil if the item is current.
    /// - Throws: `decryptionFailed` for an item that no key decrypts, which is counted too, and the errors of
    ///   ``encrypt(_:associatedData:)``.
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
