#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Which content a file has: another one with each change, and never an earlier one again.
///
/// A store without the capability `distinctVersions` gives equal contents equal versions.
public struct FileVersion: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The store's text for it; an entity tag, for example.
    public let string: String

    /// Creates a version.
    ///
    /// - Parameter string: The store's text for it.
    public init(_ string: String) { self.string = string }

    public var description: String { string }
}

/// What a list of files tells of each.
public struct FileSummary: Hashable, Sendable {
    /// Where the file is.
    public var path: FileStorePath
    /// How many bytes it has.
    public var size: Int
    /// When it was put, or changed by another program.
    public var modified: Date
    /// Which content it has.
    public var version: FileVersion

    /// Creates a summary.
    ///
    /// - Parameters:
    ///   - path: Where the file is.
    ///   - size: How many bytes it has.
    ///   - modified: When it was put.
    ///   - version: Which content it has.
    public init(path: FileStorePath, size: Int, modified: Date, version: FileVersion) {
        self.path = path
        self.size = size
        self.modified = modified
        self.version = version
    }
}

/// All that a store knows of a file beside its bytes.
@dynamicMemberLookup
public struct FileMetadata: Hashable, Sendable {
    /// The path, the size, the time and the version: `metadata.size` reads them.
    public var summary: FileSummary
    /// What the bytes are, such as `image/jpeg`.
    public var contentType: String
    /// What was put with it; see ``FileWriteOptions/attributes``.
    public var attributes: [String: String]
    /// A checksum of its bytes; nil where the store has none.
    public var checksum: FileChecksum?

    /// Creates the metadata of a file.
    ///
    /// - Parameters:
    ///   - summary: The path, the size, the time and the version.
    ///   - contentType: What the bytes are.
    ///   - attributes: What was put with it.
    ///   - checksum: A checksum of its bytes.
    public init(
        _ summary: FileSummary,
        contentType: String,
        attributes: [String: String] = [:],
        checksum: FileChecksum? = nil
    ) {
        self.summary = summary
        self.contentType = contentType
        self.attributes = attributes
        self.checksum = checksum
    }

    /// What the summary says.
    public subscript<Value>(dynamicMember member: KeyPath<FileSummary, Value>) -> Value {
        summary[keyPath: member]
    }
}
