/// A type that encrypts and authenticates small pieces of data.
///
/// A conforming type promises that
///
/// - ``open(_:context:)`` returns the bytes sealed with the same context, and throws for another context, another key
///   or changed bytes;
/// - ``seal(_:context:)`` returns different output each time for the same bytes;
/// - ``fingerprint(_:context:)`` returns the same 32 bytes each time for the same bytes and context, and cannot be
///   computed or reversed without the key.
///
/// The context (also called associated data) is authenticated but not stored: pass the location of the sealed bytes, so
/// that they cannot be moved elsewhere.
public protocol ByteSealing: Sendable {
    /// Returns the encrypted and authenticated form of `plain`.
    func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8]

    /// Returns the bytes that were sealed, after verifying that they were neither changed nor moved.
    func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8]

    /// Returns a keyed hash of `plain`, for lookups by equality.
    func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8]

    /// Returns the bytes sealed again, under the key that seals now; nil if they are under it already.
    ///
    /// Stores call it to leave a former key, so that the key can be destroyed. The default always opens and seals:
    /// implement it if there are several keys.
    func reseal(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8]?

    /// Returns whether sealed bytes that do not open will never open again, because their key was destroyed.
    ///
    /// Journals give such bytes up, and wait for the key of all others. The default is false.
    func isLost(_ sealed: [UInt8]) -> Bool
}

extension ByteSealing {
    public func reseal(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8]? {
        try seal(open(sealed, context: context), context: context)
    }

    public func isLost(_ sealed: [UInt8]) -> Bool { false }
}
