/// A folder of a store: the root, or a common prefix of paths.
///
/// A folder exists as long as it contains a file.
public struct FileStoreFolder: Hashable, Sendable {
    /// The folder that contains all files.
    public static let root = FileStoreFolder(nil)

    /// The path of the folder; nil for the root.
    public let path: FileStorePath?

    /// Creates a folder; a nil path is the root.
    public init(_ path: FileStorePath?) { self.path = path }

    /// The path as text; empty for the root.
    public var string: String { path?.string ?? "" }

    package var prefix: String { path.map { $0.string + "/" } ?? "" }

    /// Returns whether a file is in the folder or one of its subfolders.
    public func contains(_ file: FileStorePath) -> Bool {
        file.string.utf8.starts(with: prefix.utf8)
    }

    /// Returns the path of a file in this folder, or throws `invalidPath`; the name can consist of several names
    /// separated by `/`.
    public func file(_ name: String) throws(FileStoreError) -> FileStorePath {
        try FileStorePath(prefix + name)
    }

    package func check() throws(FileStoreError) { try path?.check() }
}

extension FileStoreFolder: ExpressibleByStringInterpolation, CustomStringConvertible {
    public var description: String { path?.string ?? "/" }

    /// Creates a folder from a literal; an empty one is the root.
    public init(stringLiteral value: String) {
        self.init(value.isEmpty ? nil : FileStorePath(stringLiteral: value))
    }

    public init(stringInterpolation: FileStorePath.StringInterpolation) {
        self.init(FileStorePath(stringInterpolation: stringInterpolation))
    }
}
