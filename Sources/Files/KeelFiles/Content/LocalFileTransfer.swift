internal import Foundation
internal import KeelCore
internal import Synchronization

/// Files on disk outside of stores: the sources of uploads and the targets of downloads.
enum LocalFileTransfer {
    /// The number of bytes read or written at a time.
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
        in files: any FileSystem = DiskFileSystem()
    ) async throws(FileStoreError) {
        let part = file.path + ".part-" + String(UInt64.random(in: .min ... .max), radix: 36)
        do {
            let target = try files.open(part, for: .creating)
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
            let kind = (error as? FileSystemError)?.kind
            throw FileStoreError(
                kind == .noSpace
                    ? .diskFull : kind == .notPermitted ? .permissionDenied : .writeFailed,
                "“\(file.lastPathComponent)” cannot be written.",
                cause: error
            )
        }
    }
}
