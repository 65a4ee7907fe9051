#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// The file system of the machine.
///
/// A call that may create a file, or append to one, does not follow a link in the last component of its path: in a
/// folder that others can write to, it could lead to any file of the user. Other links are followed. Folders, pipes and
/// devices are refused; opening a pipe does not wait for its other end.
package struct DiskFileSystem: FileSystem {
    private let permissions: mode_t

    /// Creates access to the machine's files.
    ///
    /// - Parameter permissions: The permissions of new files, before the process's umask. Users who may read files may
    ///   also enter new folders.
    package init(permissions: UInt16 = 0o600) { self.permissions = mode_t(permissions) }

    package func makeFolder(_ path: String) throws(FileSystemError) {
        if try makeOneFolder(path) { return }
        // A parent folder is missing.
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw FileSystemError("mkdir", path, number: ENOENT)
        }
        try makeFolder(String(path[..<slash]))
        guard try makeOneFolder(path) else { throw FileSystemError("mkdir", path, number: ENOENT) }
    }

    /// Creates a folder that survives a power failure, or returns false if its parent is missing.
    private func makeOneFolder(_ path: String) throws(FileSystemError) -> Bool {
        let entering = (permissions & 0o444) >> 2
        guard mkdir(path, 0o700 | permissions & 0o777 | entering) != 0 else {
            // If the parent may be opened: without its entry, the contents of the new folder are lost.
            try? syncFolder(Self.folder(of: path))
            return true
        }
        switch errno {
        case EEXIST: return true
        case ENOENT: return false
        default: throw FileSystemError("mkdir", path, number: errno)
        }
    }

    private static func folder(of path: String) -> String {
        var parts = path.split(separator: "/")
        parts.removeLast(min(1, parts.count))
        let folder = parts.joined(separator: "/")
        return path.hasPrefix("/") ? "/" + folder : folder.isEmpty ? "." : folder
    }

    package func names(in folder: String) throws(FileSystemError) -> [String] {
        guard let stream = opendir(folder) else {
            throw FileSystemError("opendir", folder, number: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            // At the end of the folder, readdir(3) leaves the number of an earlier call.
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw FileSystemError("readdir", folder, number: errno) }
        return names
    }

    package func size(of path: String) throws(FileSystemError) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let error = FileSystemError("stat", path, number: errno)
            if error.kind == .notFound { return nil }
            throw error
        }
        return Int(status.st_size)
    }

    package func open(
        _ path: String,
        for access: FileAccess
    ) throws(FileSystemError) -> any OpenFile {
        let flags =
            switch access {
            case .reading: O_RDONLY
            case .writing: O_RDWR
            case .creating: O_RDWR | O_CREAT | O_EXCL
            case .appending: O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW
            }
        let descriptor = try descriptor(path, flags | O_NONBLOCK)
        let file = DiskFile(descriptor, path, isLocked: access == .appending)
        guard file.isRegular else {
            throw FileSystemError("open", path, number: FileSystemError.notAFile)
        }
        if access == .appending {
            // On a volume without such locks, exclusive locks fail as well.
            while flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EINTR {}
        }
        return file
    }

    package func rename(_ path: String, to newPath: String) throws(FileSystemError) {
        #if canImport(Darwin)
        let result = Darwin.rename(path, newPath)
        #elseif canImport(Glibc)
        let result = Glibc.rename(path, newPath)
        #elseif canImport(Musl)
        let result = Musl.rename(path, newPath)
        #elseif canImport(Bionic)
        let result = Bionic.rename(path, newPath)
        #endif
        guard result == 0 else { throw FileSystemError("rename", path, number: errno) }
    }

    package func remove(_ path: String) throws(FileSystemError) {
        guard unlink(path) == 0 else { throw FileSystemError("unlink", path, number: errno) }
    }

    package func syncFolder(_ path: String) throws(FileSystemError) {
        let folder = DiskFile(try descriptor(path, O_RDONLY), path)
        try folder.sync()
    }

    package func lock(_ path: String) throws(FileSystemError) -> any FileLock {
        let descriptor = try descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK)
        let lock = DiskLock(descriptor: descriptor)
        // flock instead of fcntl: its locks belong to this opening of the file, so a second opening in the same process
        // is refused as well, and closing another one does not release the lock.
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR else { throw FileSystemError("flock", path, number: errno) }
        }
        return lock
    }

    private func descriptor(_ path: String, _ flags: Int32) throws(FileSystemError) -> Int32 {
        while true {
            #if canImport(Darwin)
            let descriptor = Darwin.open(path, flags | O_CLOEXEC, permissions)
            #elseif canImport(Glibc)
            let descriptor = Glibc.open(path, flags | O_CLOEXEC, permissions)
            #elseif canImport(Musl)
            let descriptor = Musl.open(path, flags | O_CLOEXEC, permissions)
            #elseif canImport(Bionic)
            let descriptor = Bionic.open(path, flags | O_CLOEXEC, permissions)
            #endif
            if descriptor >= 0 { return descriptor }
            guard errno == EINTR else { throw FileSystemError("open", path, number: errno) }
        }
    }
}

/// A lock by `flock`, which the system releases with the last copy of the descriptor.
private final class DiskLock: FileLock {
    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // Not by closing alone: a process that is being started has a copy of the descriptor until its program begins.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    func isStill(at path: String) -> Bool {
        var locked = stat()
        var named = stat()
        guard fstat(descriptor, &locked) == 0, stat(path, &named) == 0 else { return false }
        return locked.st_ino == named.st_ino && locked.st_dev == named.st_dev
    }
}
