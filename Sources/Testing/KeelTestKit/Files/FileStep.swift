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
    case rename(path: String, newPath: String)
    case remove(path: String)
    /// The names in the folder became durable.
    case syncFolder(path: String)
}

/// A call to a simulated disk, as passed to the closure that decides whether it fails.
package enum FileCall: Hashable, Sendable {
    case makeFolder(String)
    case names(String)
    case open(String)
    case create(String)
    case read(String)
    case write(String)
    case truncate(String)
    case sync(String)
    case rename(String)
    case remove(String)
    case syncFolder(String)
    case lock(String)

    package var path: String {
        switch self {
        case .makeFolder(let path), .names(let path), .open(let path), .create(let path),
            .read(let path), .write(let path), .truncate(let path), .sync(let path),
            .rename(let path), .remove(let path), .syncFolder(let path), .lock(let path):
            path
        }
    }
}
