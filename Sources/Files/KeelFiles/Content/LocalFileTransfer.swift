internal import Foundation
internal import KeelCore
internal import Synchronization

/// Files on disk outside of stores: the sources of uploads and the targets of downloads.
enum LocalFileTransfer {
    static let pieceByteCount = 256 << 10

    static func content(of file: URL) throws(FileStoreError) -> FileContent {
        let size: Int
        do throws(FileSystemError) {
            size = try DiskFileSystem().open(file.path, for: .reading).size()
        } catch {
            throw unreadable(error)
        }
        return FileContent(length: size, isReplayable: true) { () throws(FileStoreError) in
            do throws(FileSystemError) {
                return reader(of: try DiskFileSystem().open(file.path, for: .reading))
            } catch {
                throw unreadable(error)
            }
        }
    }

    private static func reader(of file: any OpenFile) -> FileReader {
        let position = Mutex(0)
        return FileReader { () async throws(FileStoreError) in
            try FileStoreError.checkCancellation()
            do throws(FileSystemError) {
                let piece = try file.read(at: position.withLock { $0 }, count: pieceByteCount)
                position.withLock { $0 += piece.count }
                return piece.isEmpty ? nil : piece
            } catch {
                throw unreadable(error)
            }
        }
    }

    private static func unreadable(_ error: FileSystemError) -> FileStoreError {
        FileStoreError(.sourceFailed, "The file to write cannot be read.", cause: error)
    }

    /// Writes a temporary file, and renames it once it is complete.
    static func write(
        _ content: FileContent,
        to file: URL,
        in files: any FileSystem = DiskFileSystem(permissions: 0o666)
    ) async throws(FileStoreError) {
        let (part, target, lock) = try newPart(of: file, in: files)
        defer { withExtendedLifetime(lock) {} }
        // Before the first byte: nobody who may not read the file may read what replaces it.
        target.takeAccess(of: file.path)
        do {
            var position = 0
            for try await piece in content {
                try FileStoreError.checkCancellation()
                try target.write(piece, at: position)
                position += piece.count
            }
            try FileStoreError.checkCancellation()
            try target.sync()
            try files.rename(part, to: file.path)
            // The new name survives a power failure only once the folder is on disk as well. Some file systems do not
            // support this; the file is in place all the same.
            try? files.syncFolder(file.deletingLastPathComponent().path)
        } catch {
            try? files.remove(part)
            if let error = error as? FileStoreError { throw error }
            throw unwritable(file, error)
        }
    }

    /// Creates the temporary file of a download.
    ///
    /// The name is hidden and Keel's. Downloads to a file share a first name, so that the next one overwrites the
    /// remains of one that was killed. The download that has the name holds a lock on it; others, and volumes without
    /// locks, use names of their own.
    private static func newPart(
        of file: URL,
        in files: any FileSystem
    ) throws(FileStoreError) -> (path: String, file: any OpenFile, lock: (any FileLock)?) {
        // Shortened, because the file may have the longest name of the volume.
        var name = Substring(file.lastPathComponent)
        while name.utf8.count > 200 { name.removeLast() }
        let part = file.deletingLastPathComponent().appending(path: ".\(name).keel-part-").path
        let first = part + "0"
        if let lock = try? files.lock(first), lock.isStill(at: first),
            let target = try? files.open(first, for: .writing),
            (try? target.truncate(to: 0)) != nil
        {
            return (first, target, lock)
        }
        let other = part + String(UInt64.random(in: .min ... .max), radix: 36)
        do throws(FileSystemError) {
            return (other, try files.open(other, for: .creating), nil)
        } catch {
            throw unwritable(file, error)
        }
    }

    private static func unwritable(_ file: URL, _ error: any Error) -> FileStoreError {
        let kind = (error as? FileSystemError)?.kind
        return FileStoreError(
            kind == .noSpace
                ? .diskFull : kind == .notPermitted ? .permissionDenied : .writeFailed,
            "“\(file.lastPathComponent)” cannot be written.",
            cause: error
        )
    }
}
