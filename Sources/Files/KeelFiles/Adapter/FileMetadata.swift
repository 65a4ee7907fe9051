#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The version of a file's content.
///
/// With the capability `distinctVersions`, each change gives the file a version that is never reused; without it, equal
/// contents can have equal versions.
public struct FileVersion: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The store's text of the version, such as an entity tag.
    public let string: String

    /// Creates a version.
    public init(_ string: String) { self.string = string }

    public var description: String { string }
}

/// The information about a file in a listing.
public struct FileSummary: Hashable, Sendable {
    /// The path of the file.
    public var path: FileStorePath
    /// The size of the file in bytes.
    public var size: Int
    /// The time when the file was written, or changed by another program.
    public var modified: Date
    /// The version of the content.
    public var version: FileVersion

    /// Creates a summary.
    public init(path: FileStorePath, size: Int, modified: Date, version: FileVersion) {
        self.path = path
        self.size = size
        self.modified = modified
        self.version = version
    }
}

/// The information about a file that a store keeps with its bytes.
@dynamicMemberLookup
public struct FileMetadata: Hashable, Sendable {
    /// The path, size, time and version, which are also members of the metadata.
    public var summary: FileSummary
    /// The content type, such as `image/jpeg`.
    public var contentType: String
    /// The attributes written with the file; see ``FileWriteOptions/attributes``.
    public var attributes: [String: String]
    /// A checksum of the bytes, or nil if the store has none.
    public var checksum: FileChecksum?

    /// Creates the metadata of a file.
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

    /// Accesses a property of the summary.
    public subscript<Value>(dynamicMember member: KeyPath<FileSummary, Value>) -> Value {
        summary[keyPath: member]
    }
}
