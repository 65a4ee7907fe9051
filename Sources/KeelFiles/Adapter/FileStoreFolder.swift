/// A folder of a store: the root, or the beginning of paths.
///
/// Folders are not made and not removed: one is there as long as a file is in it.
public struct FileStoreFolder: Hashable, Sendable {
    /// The folder that holds all files.
    public static let root = FileStoreFolder(nil)

    /// The folder as a path; nil for the root.
    public let path: FileStorePath?

    /// Creates a folder.
    ///
    /// - Parameter path: Its path; nil for the root.
    public init(_ path: FileStorePath?) { self.path = path }

    /// The folder as text; empty for the root.
    public var string: String { path?.string ?? "" }

    /// What the paths of its files begin with.
    package var prefix: String { path.map { $0.string + "/" } ?? "" }

    /// Whether a file is in the folder, or in a folder inside of it.
    ///
    /// - Parameter file: The path of the file.
    /// - Returns: Whether it is.
    public func contains(_ file: FileStorePath) -> Bool {
        file.string.utf8.starts(with: prefix.utf8)
    }

    /// The path of a file in this folder.
    ///
    /// - Parameter name: The file's name, or names with `/` between them.
    /// - Returns: The path.
    /// - Throws: ``FileStoreError`` with the code `invalidPath`.
    public func file(_ name: String) throws(FileStoreError) -> FileStorePath {
        try FileStorePath(prefix + name)
    }

    /// Refuses a folder whose path is no good.
    package func check() throws(FileStoreError) { try path?.check() }
}

extension FileStoreFolder: ExpressibleByStringInterpolation, CustomStringConvertible {
    public var description: String { path?.string ?? "/" }

    /// Takes a literal; an empty one is the root.
    public init(stringLiteral value: String) {
        self.init(value.isEmpty ? nil : FileStorePath(stringLiteral: value))
    }

    public init(stringInterpolation: FileStorePath.StringInterpolation) {
        self.init(FileStorePath(stringInterpolation: stringInterpolation))
    }
}
