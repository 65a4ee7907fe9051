#if Crypto
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An upload in parts that was neither completed nor aborted.
public struct IncompleteUpload: Hashable, Sendable {
    /// The key of the file.
    public let key: String
    /// The server's id of the upload.
    public let id: String
    /// The start of the upload, by the server's clock.
    public let startDate: Date
}
#endif
