/// One change of a simulated disk, as it happened.
package enum FileStep: Sendable {
    /// A new, empty file has this number and this path.
    case create(file: Int, path: String)
    /// Bytes were written into a file.
    case write(file: Int, offset: Int, bytes: [UInt8])
    /// A file was cut off or filled up.
    case truncate(file: Int, size: Int)
    /// What was written into a file before is on the disk.
    case sync(file: Int)
    /// A file has another path.
    case rename(path: String, newPath: String)
    /// A path leads nowhere any more.
    case remove(path: String)
    /// The names in the folder are on the disk.
    case syncFolder(path: String)
}

/// A call on a simulated disk, for the closure that decides whether it fails.
package enum FileCall: Hashable, Sendable {
    /// A folder is made.
    case makeFolder(String)
    /// A folder is listed.
    case names(String)
    /// A file is opened.
    case open(String)
    /// A new file is made.
    case create(String)
    /// Bytes are read.
    case read(String)
    /// Bytes are written.
    case write(String)
    /// A file is cut off.
    case truncate(String)
    /// A file is synchronised.
    case sync(String)
    /// A file is renamed.
    case rename(String)
    /// A file is removed.
    case remove(String)
    /// A folder is synchronised.
    case syncFolder(String)
    /// A lock is taken.
    case lock(String)

    /// The path that the call is about.
    package var path: String {
        switch self {
        case .makeFolder(let path), .names(let path), .open(let path), .create(let path),
            .read(let path), .write(let path), .truncate(let path), .sync(let path),
            .rename(let path), .remove(let path), .syncFolder(let path), .lock(let path):
            path
        }
    }
}
