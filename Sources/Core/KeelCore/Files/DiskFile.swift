#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

final class DiskFile: OpenFile {
    private let descriptor: Int32
    private let path: String
    private let inode: ino_t
    private let device: dev_t
    let isRegular: Bool
    private let isLocked: Bool

    init(_ descriptor: Int32, _ path: String, isLocked: Bool = false) {
        self.descriptor = descriptor
        self.path = path
        self.isLocked = isLocked
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        inode = isKnown ? status.st_ino : 0
        device = isKnown ? status.st_dev : 0
        isRegular = isKnown && status.st_mode & S_IFMT == S_IFREG
    }

    deinit {
        // As for `DiskLock`, closing alone may release the lock late.
        if isLocked { _ = flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    func size() throws(FileSystemError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("fstat") }
        return Int(status.st_size)
    }

    func read(at offset: Int, count: Int) throws(FileSystemError) -> [UInt8] {
        let (bytes, number) = DescriptorCalls.read(descriptor, at: offset, count: count)
        guard number == 0 else { throw FileSystemError("pread", path, number: number) }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(FileSystemError) {
        let number = bytes.withUnsafeBytes { DescriptorCalls.writeAll(descriptor, $0, at: offset) }
        guard number == 0 else { throw FileSystemError("pwrite", path, number: number) }
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError) {
        let number = DescriptorCalls.writeAll(descriptor, bytes)
        guard number == 0 else { throw FileSystemError("write", path, number: number) }
    }

    func modificationTime() throws(FileSystemError) -> Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("fstat") }
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    func truncate(to size: Int) throws(FileSystemError) {
        while ftruncate(descriptor, off_t(size)) != 0 {
            guard errno == EINTR else { throw failure("ftruncate") }
        }
    }

    func takeAccess(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        // In two calls: any member of a group may give it a file, but only root may change the owner.
        let isOfGroup = fchown(descriptor, uid_t.max, status.st_gid) == 0
        _ = fchown(descriptor, status.st_uid, gid_t.max)
        // Another group does not get the permissions of this one.
        _ = fchmod(descriptor, status.st_mode & (isOfGroup ? 0o777 : 0o707))
    }

    func sync() throws(FileSystemError) {
        let number = DescriptorCalls.sync(descriptor)
        guard number == 0 else { throw FileSystemError("fsync", path, number: number) }
    }

    func isStill(at path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_ino == inode && status.st_dev == device
    }

    private func failure(_ call: String) -> FileSystemError {
        FileSystemError(call, path, number: errno)
    }
}
