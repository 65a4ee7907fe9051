internal import KeelCore
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

final class KnownFolders: Sendable {
    private let inodes = Mutex<Set<UInt64>>([])

    func contains(_ inode: UInt64?) -> Bool {
        guard let inode else { return false }
        return inodes.withLock { $0.contains(inode) }
    }

    func insert(_ inode: UInt64?) {
        guard let inode else { return }
        _ = inodes.withLock { $0.insert(inode) }
    }

    func remove(_ inode: UInt64?) {
        guard let inode else { return }
        _ = inodes.withLock { $0.remove(inode) }
    }
}

/// The folder of a local store, and the path resolution within it.
///
/// Each name is opened relative to its parent without following links, so no call leaves the folder.
struct LocalFolder: Sendable {
    let root: Descriptor
    /// The folder of unfinished files.
    let news: Descriptor
    /// The folders that are known to survive a power failure.
    let durable = KnownFolders()

    enum Way {
        /// The folder of the file exists.
        case folder(Descriptor)
        /// A folder of the path is missing.
        case missing
        /// A folder of the path is a file.
        case blocked
    }

    /// Resolves the folder of a file; throws `notAFile` if a link is in the way.
    func way(to path: FileStorePath) throws(FileStoreError) -> Way {
        var folder = root
        for name in path.names.dropLast() {
            switch folder.open(name, O_RDONLY | O_DIRECTORY) {
            case .success(let next): folder = next
            case .failure(let failure):
                switch failure.number {
                case ENOENT: return .missing
                case ENOTDIR, ELOOP:
                    switch folder.status(of: name)?.kind {
                    case .file?: return .blocked
                    case .other?: throw Self.link(path)
                    // Another program has just changed it.
                    case nil, .folder?: return .missing
                    }
                default:
                    throw FileStoreError("openat", path.string, .readFailed, number: failure.number)
                }
            }
        }
        return .folder(folder)
    }

    /// Opens the folder of a file, creating missing folders, which with `syncs` survive a power failure; throws
    /// `pathTaken` if a file has the name of a folder.
    func makeWay(to path: FileStorePath, syncs: Bool) throws(FileStoreError) -> Descriptor {
        var folder = root
        for name in path.names.dropLast() {
            var opened = folder.open(name, O_RDONLY | O_DIRECTORY)
            var isNew = false
            if case .failure(let failure) = opened, failure.number == ENOENT {
                let number = folder.makeFolder(name)
                guard number == 0 || number == EEXIST else {
                    throw FileStoreError("mkdirat", path.string, .writeFailed, number: number)
                }
                isNew = number == 0
                opened = folder.open(name, O_RDONLY | O_DIRECTORY)
            }
            switch opened {
            case .success(let next):
                // Another process may have created the folder without synchronizing it yet.
                let inode = next.status()?.inode
                if syncs, isNew || !durable.contains(inode) {
                    try Self.sync(folder, path)
                    durable.insert(inode)
                }
                folder = next
            case .failure(let failure):
                guard [ENOTDIR, ELOOP].contains(failure.number) else {
                    throw FileStoreError(
                        "openat",
                        path.string,
                        .writeFailed,
                        number: failure.number
                    )
                }
                guard folder.status(of: name)?.kind != .file else {
                    throw FileStoreError.taken(path)
                }
                throw Self.link(path)
            }
        }
        return folder
    }

    /// Opens a file for reading, or returns nil if it does not exist; throws `notAFile` for links, devices and sockets.
    func open(_ path: FileStorePath) throws(FileStoreError) -> (Descriptor, FileStatus)? {
        guard case .folder(let folder) = try way(to: path) else { return nil }
        // Without O_NONBLOCK, opening a pipe without a writer would block.
        switch folder.open(path.name, O_RDONLY | O_NONBLOCK) {
        case .success(let file):
            guard let status = file.status() else {
                throw FileStoreError("fstat", path.string, .readFailed, number: errno)
            }
            switch status.kind {
            case .file: return (file, status)
            case .folder: return nil
            case .other: throw Self.link(path)
            }
        case .failure(let failure):
            switch failure.number {
            case ENOENT: return nil
            // The name is a link or a socket.
            case ELOOP, ENXIO: throw Self.link(path)
            default:
                throw FileStoreError("openat", path.string, .readFailed, number: failure.number)
            }
        }
    }

    /// Removes the folders above a file that have become empty; returns the innermost one that remains.
    @discardableResult
    func removeEmptyFolders(above path: FileStorePath) -> Descriptor? {
        for folder in path.foldersAbove.reversed() {
            guard case .folder(let outer)? = try? way(to: folder) else { continue }
            let inode = outer.status(of: folder.name)?.inode
            let number = outer.remove(folder.name, isFolder: true)
            guard number == 0 else {
                if number == ENOENT { continue }
                if case .success(let left) = outer.open(folder.name, O_RDONLY | O_DIRECTORY) {
                    return left
                }
                return nil
            }
            durable.remove(inode)
        }
        return root
    }

    /// Removes a folder and its subfolders unless one contains a file; returns whether the folder is gone.
    func removeIfEmpty(_ name: String, in outer: Descriptor) -> Bool {
        guard case .success(let own) = outer.open(name, O_RDONLY | O_DIRECTORY),
            case .success(let names) = own.names()
        else { return false }
        for inner in names {
            guard own.status(of: inner)?.kind == .folder, removeIfEmpty(inner, in: own) else {
                return false
            }
        }
        durable.remove(own.status()?.inode)
        return outer.remove(name, isFolder: true) == 0
    }

    /// Makes the names in a folder survive a power failure.
    ///
    /// - Throws: ``FileStoreError`` with the code `unavailable`: the change has been made, but may not last.
    static func sync(_ folder: Descriptor, _ path: FileStorePath) throws(FileStoreError) {
        let number = folder.sync()
        // Some volumes do not support synchronizing folders.
        guard number != 0, number != EINVAL else { return }
        throw FileStoreError(
            .unavailable,
            "A folder of “\(path)” was not synchronized; the change may have taken effect.",
            cause: FileSystemError("fsync", path.string, number: number)
        )
    }

    static func link(_ path: FileStorePath) -> FileStoreError {
        FileStoreError(
            .notAFile,
            "“\(path)”, or a folder above it, is a link, a device or a socket."
        )
    }
}
