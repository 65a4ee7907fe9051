/// A change of a simulated disk.
package enum FileStep: Sendable {
    /// A new, empty file was created.
    case create(file: Int, path: String)
    /// Bytes were written to a file.
    case write(file: Int, offset: Int, bytes: [UInt8])
    /// A file was truncated or extended with zeros.
    case truncate(file: Int, size: Int)
    /// All earlier writes to a file became durable.
    case sync(file: Int)
    /// A file was renamed.
    case rename(path: String, newPath: String)
    /// A path was removed.
    case remove(path: String)
    /// The names in the folder became durable.
    case syncFolder(path: String)
}

/// A call to a simulated disk, as passed to the closure that decides whether it fails.
package enum FileCall: Hashable, Sendable {
    /// A folder is created.
    case makeFolder(String)
    /// A folder is listed.
    case names(String)
    /// A file is opened.
    case open(String)
    /// A new file is created.
    case create(String)
    /// Bytes are read.
    case read(String)
    /// Bytes are written.
    case write(String)
    /// A file is truncated.
    case truncate(String)
    /// A file is synchronized.
    case sync(String)
    /// A file is renamed.
    case rename(String)
    /// A file is removed.
    case remove(String)
    /// A folder is synchronized.
    case syncFolder(String)
    /// A lock is taken.
    case lock(String)

    /// The path that the call concerns.
    package var path: String {
        switch self {
        case .makeFolder(let path), .names(let path), .open(let path), .create(let path),
            .read(let path), .write(let path), .truncate(let path), .sync(let path),
            .rename(let path), .remove(let path), .syncFolder(let path), .lock(let path):
            path
        }
    }
}
