internal import CKeelAttributes
internal import KeelCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// An open file or folder, which is closed with its last reference.
final class Descriptor: Sendable {
    let number: Int32
    /// The trace that records changes; nil except in tests.
    let trace: FolderTrace?

    init(_ number: Int32, trace: FolderTrace? = nil) {
        self.number = number
        self.trace = trace
    }

    deinit { close(number) }

    /// Opens a name in a folder without following links; returns the opened file, or the error number.
    func open(_ name: String, _ flags: Int32, mode: mode_t = 0o600) -> Result<Descriptor, Failure> {
        // O_NOFOLLOW applies only to the last component, so there must be exactly one.
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            return .failure(Failure(number: EINVAL))
        }
        let isNew = trace != nil && flags & O_CREAT != 0 && status(of: name) == nil
        while true {
            let opened = openat(number, name, flags | O_NOFOLLOW | O_CLOEXEC, mode)
            if opened >= 0 {
                let file = Descriptor(opened, trace: trace)
                if isNew, let status = file.status() {
                    let (own, time) = (status.inode, status.modified)
                    trace?.note(.create(file: own, folder: inode, name: name, modified: time))
                }
                return .success(file)
            }
            if errno != EINTR { return .failure(Failure(number: errno)) }
        }
    }

    struct Failure: Error { let number: Int32 }

    private var inode: UInt64 { status()?.inode ?? 0 }

    func status() -> FileStatus? {
        var status = stat()
        return fstat(number, &status) == 0 ? FileStatus(status) : nil
    }

    func status(of name: String) -> FileStatus? {
        var status = stat()
        guard fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return FileStatus(status)
    }

    // MARK: Changes

    // Each of these methods returns zero or the error number.

    func makeFolder(_ name: String) -> Int32 {
        guard mkdirat(number, name, 0o700) == 0 else { return errno }
        if let trace {
            let made = status(of: name)?.inode ?? 0
            trace.note(.makeFolder(made, folder: inode, name: name))
        }
        return 0
    }

    func rename(_ name: String, to newFolder: Descriptor, _ newName: String) -> Int32 {
        guard renameat(number, name, newFolder.number, newName) == 0 else { return errno }
        if let trace {
            let other = newFolder.inode
            trace.note(.rename(folder: inode, name: name, newFolder: other, newName: newName))
        }
        return 0
    }

    func remove(_ name: String, isFolder: Bool = false) -> Int32 {
        guard unlinkat(number, name, isFolder ? AT_REMOVEDIR : 0) == 0 else { return errno }
        if let trace { trace.note(.remove(folder: inode, name: name)) }
        return 0
    }

    func setAttribute(_ name: String, _ bytes: [UInt8]) -> Int32 {
        let result = bytes.withUnsafeBytes { bytes in
            #if canImport(Darwin)
            fsetxattr(number, name, bytes.baseAddress, bytes.count, 0, 0)
            #else
            fsetxattr(number, name, bytes.baseAddress, bytes.count, 0)
            #endif
        }
        guard result == 0 else { return errno }
        if let trace { trace.note(.label(file: inode, bytes: bytes)) }
        return 0
    }

    /// Makes written bytes, or the names in a folder, survive a power failure.
    func sync() -> Int32 {
        let number = DescriptorCalls.sync(self.number)
        if number == 0, let trace { trace.note(.sync(inode)) }
        return number
    }

    func write(_ bytes: [UInt8]) -> Int32 {
        let failure = bytes.withUnsafeBytes { DescriptorCalls.writeAll(number, $0) }
        if failure == 0, let trace, let status = status() {
            trace.note(.write(file: status.inode, bytes: bytes, modified: status.modified))
        }
        return failure
    }

    // MARK: Reading

    /// Returns an extended attribute of the open file, of at most `limit` bytes, or nil if it has none of that name.
    func attribute(_ name: String, upTo limit: Int) -> [UInt8]? {
        // Most attributes fit here; a longer one is read again.
        for capacity in [256, limit] {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                #if canImport(Darwin)
                let length = fgetxattr(number, name, buffer.baseAddress, buffer.count, 0, 0)
                #else
                let length = fgetxattr(number, name, buffer.baseAddress, buffer.count)
                #endif
                failure = length < 0 ? errno : 0
                count = max(0, length)
            }
            if failure == 0 { return bytes }
            if failure != ERANGE { return nil }
        }
        return nil
    }

    /// Reads bytes at an offset; returns fewer only at the end of the file.
    func read(at offset: Int, count: Int) -> Result<[UInt8], Failure> {
        let (bytes, failure) = DescriptorCalls.read(number, at: offset, count: count)
        return failure == 0 ? .success(bytes) : .failure(Failure(number: failure))
    }

    /// A name in a folder, with its kind if the system provides it with the name.
    struct Name {
        let text: String
        let kind: FileStatus.Kind?
    }

    func names() -> Result<[String], Failure> { entries().map { $0.map(\.text) } }

    /// Returns the names in this folder with their kinds, in any order, without `.` and `..`.
    func entries() -> Result<[Name], Failure> {
        // The stream needs its own descriptor, because closing it closes the descriptor.
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
        var names: [Name] = []
        while true {
            // At the end of the folder, readdir(3) leaves the number of an earlier call.
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    String(cString: $0)
                }
            }
            if name != ".", name != ".." {
                names.append(Name(text: name, kind: Self.kind(entry.pointee.d_type)))
            }
        }
        return errno == 0 ? .success(names) : .failure(Failure(number: errno))
    }

    private static func kind(_ type: UInt8) -> FileStatus.Kind? {
        switch Int32(type) {
        case Int32(DT_UNKNOWN): nil
        case Int32(DT_REG): .file
        case Int32(DT_DIR): .folder
        default: .other
        }
    }
}
