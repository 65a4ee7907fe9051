#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#elseif canImport(Darwin)
internal import Darwin
#endif

/// An open file or folder, closed with its last user.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { close(number) }

    /// Opens a name in a folder; a link is never followed.
    ///
    /// - Returns: What was opened, or the system's number of the failure.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0o600) -> Result<Descriptor, Failure> {
        // One name, whatever its caller thinks: only the last one of several is not followed.
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            return .failure(Failure(number: EINVAL))
        }
        while true {
            let opened = openat(number, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
            if opened >= 0 { return .success(Descriptor(opened)) }
            if errno != EINTR { return .failure(Failure(number: errno)) }
        }
    }

    /// The system's number of a call that failed.
    struct Failure: Error { let number: Int32 }

    /// What is known of the open file.
    func status() -> FileStatus? {
        var status = stat()
        return fstat(number, &status) == 0 ? FileStatus(status) : nil
    }

    /// What is known of a name in this folder; nil where there is nothing of that name.
    func status(of name: String) -> FileStatus? {
        var status = stat()
        guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return FileStatus(status)
    }

    /// Makes what was written survive a power failure.
    ///
    /// - Returns: Zero, or the system's number of the failure.
    func sync() -> Int32 {
        #if canImport(Darwin)
        // There fsync leaves the bytes in the drive's own memory. Not every volume knows this.
        if fcntl(number, F_FULLFSYNC) == 0 { return 0 }
        #endif
        while fsync(number) != 0 {
            if errno != EINTR { return errno }
        }
        return 0
    }

    /// Writes all bytes behind those that were written before.
    ///
    /// - Returns: Zero, or the system's number of the failure.
    func write(_ bytes: [UInt8]) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = Self.write(
                    number,
                    buffer.baseAddress.map { $0 + done },
                    buffer.count - done
                )
                if count >= 0 {
                    done += count
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// Reads bytes from a place; fewer only at the end of the file.
    ///
    /// - Returns: The bytes, or the system's number of the failure.
    func read(at offset: Int, count: Int) -> Result<[UInt8], Failure> {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let length = pread(
                    number,
                    buffer.baseAddress.map { $0 + filled },
                    count - filled,
                    off_t(offset + filled)
                )
                if length == 0 { return }
                if length > 0 {
                    filled += length
                } else if errno != EINTR {
                    failure = errno
                    return
                }
            }
        }
        return failure == 0 ? .success(bytes) : .failure(Failure(number: failure))
    }

    /// The names in this folder, in no order, without `.` and `..`.
    func names() -> Result<[String], Failure> {
        // A descriptor of its own: closing the stream closes it.
        let own: Descriptor
        switch open(".", O_RDONLY | O_DIRECTORY) {
        case .success(let opened): own = opened
        case .failure(let failure): return .failure(failure)
        }
        let copy = fcntl(own.number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return .failure(Failure(number: errno)) }
        guard let stream = fdopendir(copy) else {
            defer { close(copy) }
            return .failure(Failure(number: errno))
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return errno == 0 ? .success(names) : .failure(Failure(number: errno))
    }

    private static func write(
        _ descriptor: Int32,
        _ bytes: UnsafeRawPointer?,
        _ count: Int
    ) -> Int {
        #if canImport(Darwin)
        Darwin.write(descriptor, bytes, count)
        #elseif canImport(Glibc)
        Glibc.write(descriptor, bytes, count)
        #elseif canImport(Musl)
        Musl.write(descriptor, bytes, count)
        #elseif canImport(Bionic)
        Bionic.write(descriptor, bytes, count)
        #endif
    }
}

/// What the system knows of a file.
struct FileStatus: Hashable, Sendable {
    enum Kind: Hashable, Sendable { case file, folder, other }

    let kind: Kind
    let size: Int
    let inode: UInt64
    /// When its bytes were changed, in nanoseconds since 1970.
    let modified: Int64
    /// When anything about it was changed.
    let changed: Int64

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        size = Int(status.st_size)
        inode = UInt64(status.st_ino)
        #if canImport(Darwin)
        modified = Self.nanoseconds(status.st_mtimespec)
        changed = Self.nanoseconds(status.st_ctimespec)
        #else
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
        #endif
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
