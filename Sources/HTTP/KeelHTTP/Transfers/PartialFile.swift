import KeelCore
import Synchronization

/// A file that appears under its name only when it is complete.
///
/// Until then it has a temporary name in the same folder. Dropping it removes it.
final class PartialFile: Sendable {
    private let path: String
    private let partialPath: String
    private let files = DiskFileSystem(permissions: 0o666)
    private let file: any OpenFile
    private let size = Mutex(0)
    private let isFinished = Mutex(false)
    private let queue = DiskQueue()

    init(becoming path: String) throws(HTTPFileError) {
        self.path = path
        let folder = Self.folder(of: path)
        let number = UInt64.random(in: .min ... .max)
        partialPath = folder + "/.keel-" + String(number, radix: 36) + ".part"
        do throws(FileSystemError) {
            file = try files.open(partialPath, for: .creating)
        } catch {
            throw HTTPFileError(.open, path, error)
        }
    }

    deinit {
        if !isFinished.withLock({ $0 }) { try? files.remove(partialPath) }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "" : String(path[..<slash])
    }

    func append(_ bytes: [UInt8]) async throws(HTTPFileError) {
        try await run(.write) { file throws(FileSystemError) in
            let offset = self.size.withLock { $0 }
            try file.write(bytes, at: offset)
            self.size.withLock { $0 = offset + bytes.count }
        }
    }

    /// Flushes the bytes to disk and renames the file, replacing any earlier one.
    func commit() async throws(HTTPFileError) {
        try await run(.write) { file throws(FileSystemError) in try file.sync() }
        try await run(.rename) { _ throws(FileSystemError) in
            try self.files.rename(self.partialPath, to: self.path)
            self.isFinished.withLock { $0 = true }
            // The new name survives a power failure only once the folder is on disk as well. Some file systems do not
            // support this; the file is in place all the same.
            let folder = Self.folder(of: self.path)
            try? self.files.syncFolder(folder.isEmpty ? "/" : folder)
        }
    }

    private func run(
        _ reason: HTTPFileError.Reason,
        _ work: @escaping @Sendable (any OpenFile) throws(FileSystemError) -> Void
    ) async throws(HTTPFileError) {
        do throws(FileSystemError) {
            try await queue.run { [file] () throws(FileSystemError) in try work(file) }
        } catch {
            throw HTTPFileError(reason, path, error)
        }
    }

    func discard() async {
        await queue.run {
            self.isFinished.withLock { isFinished in
                if !isFinished { try? self.files.remove(self.partialPath) }
                isFinished = true
            }
        }
    }
}
