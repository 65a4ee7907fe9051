import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A file that appears under its name only when it is complete.
///
/// Until then it has a temporary name in the same folder. Dropping or discarding it removes it; only the end of the
/// process leaves it behind.
final class PartialFile: Sendable {
    private let path: String
    private let partialPath: String
    private let descriptor: Int32
    private let isFinished = Mutex(false)
    private let queue = FileQueue()

    /// Creates the file next to its final name, with the default permissions.
    init(becoming path: String) throws(HTTPFileError) {
        self.path = path
        let folder = Self.folder(of: path)
        let number = UInt64.random(in: .min ... .max)
        partialPath = folder + "/.keel-" + String(number, radix: 36) + ".part"
        descriptor = open(partialPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw HTTPFileError(.open, path, number: errno) }
    }

    deinit {
        if !isFinished.withLock({ $0 }) { unlink(partialPath) }
        close(descriptor)
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "" : String(path[..<slash])
    }

    func append(_ bytes: [UInt8]) async throws(HTTPFileError) {
        try await queue.run { () throws(HTTPFileError) in
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes { buffer in
                    write(
                        self.descriptor,
                        buffer.baseAddress.map { $0 + written },
                        bytes.count - written
                    )
                }
                if count < 0 {
                    guard errno != EINTR else { continue }
                    throw HTTPFileError(.write, self.path, number: errno)
                }
                written += count
            }
        }
    }

    /// Flushes the bytes to disk and renames the file, replacing any earlier one.
    func commit() async throws(HTTPFileError) {
        try await queue.run { () throws(HTTPFileError) in
            guard fsync(self.descriptor) == 0 else {
                throw HTTPFileError(.write, self.path, number: errno)
            }
            guard rename(self.partialPath, self.path) == 0 else {
                throw HTTPFileError(.rename, self.path, number: errno)
            }
            self.isFinished.withLock { $0 = true }
            // The new name survives a power failure only once the folder is on disk as well. Some file systems do not
            // support this; the file is in place all the same.
            let folder = Self.folder(of: self.path)
            let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            _ = fsync(descriptor)
            close(descriptor)
        }
    }

    /// Removes the file, unless it has been committed.
    func discard() async {
        try? await queue.run { () throws(HTTPFileError) in
            self.isFinished.withLock { isFinished in
                if !isFinished { unlink(self.partialPath) }
                isFinished = true
            }
        }
    }
}
