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

final class MemoryFileSystem: FileSystem {
    private let files = Mutex<[String: MemoryFile]>([:])

    func makeFolder(_ path: String) {}

    func names(in folder: String) -> [String] {
        let start = folder + "/"
        return files.withLock { files in
            files.keys.filter { $0.hasPrefix(start) && !$0.dropFirst(start.count).contains("/") }
                .map { String($0.dropFirst(start.count)) }
        }
    }

    func size(of path: String) -> Int? { files.withLock { $0[path]?.size() } }

    func open(_ path: String, for access: FileAccess) throws(FileSystemError) -> any OpenFile {
        try files.withLock { files throws(FileSystemError) in
            let found = files[path]
            switch access {
            case .reading, .writing:
                guard let found else { throw FileSystemError("open", path, number: ENOENT) }
                return found
            case .creating:
                guard found == nil else { throw FileSystemError("open", path, number: EEXIST) }
            case .appending:
                if let found { return found }
            }
            let file = MemoryFile(at: path)
            files[path] = file
            return file
        }
    }

    func rename(_ path: String, to newPath: String) throws(FileSystemError) {
        try files.withLock { files throws(FileSystemError) in
            guard let file = files.removeValue(forKey: path) else {
                throw FileSystemError("rename", path, number: ENOENT)
            }
            files[newPath]?.move(to: nil)
            file.move(to: newPath)
            files[newPath] = file
        }
    }

    func remove(_ path: String) throws(FileSystemError) {
        guard let removed = files.withLock({ $0.removeValue(forKey: path) }) else {
            throw FileSystemError("unlink", path, number: ENOENT)
        }
        removed.move(to: nil)
    }

    func syncFolder(_ path: String) {}

    func lock(_ path: String) throws(FileSystemError) -> any FileLock {
        try files.withLock { files throws(FileSystemError) in
            // Locking creates a missing file, as on disk.
            let file = files[path] ?? MemoryFile(at: path)
            files[path] = file
            guard file.takeLock() else {
                throw FileSystemError("flock", path, number: EWOULDBLOCK)
            }
            return MemoryLock(file)
        }
    }
}

private final class MemoryLock: FileLock {
    private let file: MemoryFile

    init(_ file: MemoryFile) { self.file = file }

    deinit { file.giveLockBack() }

    func isStill(at path: String) -> Bool { file.isStill(at: path) }
}

private final class MemoryFile: OpenFile {
    private let bytes = Mutex<[UInt8]>([])
    private let isLocked = Mutex(false)
    /// The path of the file; nil after it was removed or replaced.
    private let path: Mutex<String?>

    init(at path: String) { self.path = Mutex(path) }

    func move(to path: String?) { self.path.withLock { $0 = path } }

    func takeLock() -> Bool {
        isLocked.withLock { isLocked in
            defer { isLocked = true }
            return !isLocked
        }
    }

    func giveLockBack() { isLocked.withLock { $0 = false } }

    func size() -> Int { bytes.withLock(\.count) }

    func read(at offset: Int, count: Int) -> [UInt8] {
        bytes.withLock { bytes in
            let start = min(max(0, offset), bytes.count)
            return Array(bytes[start..<min(bytes.count, start + max(0, count))])
        }
    }

    func write(_ new: [UInt8], at offset: Int) {
        bytes.withLock { bytes in
            let end = offset + new.count
            if end > bytes.count { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
            bytes.replaceSubrange(offset..<end, with: new)
        }
    }

    func append(_ new: UnsafeRawBufferPointer) { bytes.withLock { $0 += new } }

    func modificationTime() -> Int64? { nil }

    func truncate(to size: Int) {
        bytes.withLock { bytes in
            if size < bytes.count {
                bytes.removeLast(bytes.count - size)
            } else {
                bytes += [UInt8](repeating: 0, count: size - bytes.count)
            }
        }
    }

    func sync() {}

    func isStill(at path: String) -> Bool { self.path.withLock { $0 } == path }
}
