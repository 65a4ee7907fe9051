#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An upload in parts that was begun and not ended.
public struct IncompleteUpload: Hashable, Sendable {
    /// The key that it is for.
    public let key: String
    /// What the server knows it by.
    public let id: String
    /// When it was begun, by the server's clock.
    public let begun: Date
}
#endif
