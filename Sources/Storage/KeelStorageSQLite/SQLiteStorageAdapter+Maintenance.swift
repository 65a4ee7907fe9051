#if SQLite
public import Foundation
internal import GRDB
internal import KeelCore
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    /// Trims the change log and the history to their limits, returns free pages to the file system, and empties the
    /// write-ahead log.
    ///
    /// The call needs disk space for two more copies of the file: SQLite builds the new file in the folder for
    /// temporary files, `/var/tmp` on Linux unless `SQLITE_TMPDIR` or `TMPDIR` names another, and writes it through the
    /// log beside the old one. Commits wait meanwhile. Open readers keep the log from being emptied; after
    /// ``Configuration/busyTimeout``, the call then throws `StorageError/Code/busy`, with the file already compacted.
    ///
    /// Cancellation ends the call soon, except while SQLite writes the complete new file through the log. What has been
    /// trimmed stays trimmed.
    public func compact() async throws(StorageError) {
        do throws(StorageError) {
            while try await !maintaining({ [self] in try trim($0, StoreState($0)) }) {}
            _ = try await maintaining { [self] in try forget($0, StoreState($0), most: .max) }
            try await working { database in
                try database.execute(sql: "PRAGMA optimize")
                try database.execute(sql: "VACUUM")
            }
            // A separate step, because readers block only this one.
            try await working { _ = try $0.checkpoint(.truncate) }
        } catch {
            throw error.during("compact")
        }
    }

    /// Copies a consistent state of the store to a file that must not exist.
    ///
    /// Writers can continue; the copy has the commits made before it began. Cancellation ends the call and leaves no
    /// file behind. The copy is a separate store, for which cursors of the original are not valid. A missing folder is
    /// created.
    ///
    /// - Throws: `StorageError/Code/alreadyExists` if there is a file at the URL, and errors of the files.
    public func backup(to url: URL) async throws(StorageError) {
        let destination = url.path(percentEncoded: false)
        do throws(StorageError) {
            try Self.checkIsFree(destination)
            try await copying.run { [self] () async throws(StorageError) in
                try await reading { try copy(to: url) }
            }
        } catch {
            throw error.during("backup", on: destination)
        }
    }

    private static func checkIsFree(_ path: String) throws(StorageError) {
        guard FileManager.default.fileExists(atPath: path) else { return }
        throw StorageError(.alreadyExists, "a file already exists at “\(path)”")
    }

    private func copy(to url: URL) throws {
        try connections.checkFile()
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A file with the final name is always complete.
        let partial = folder.appending(
            path: ".\(url.lastPathComponent).partial-\(UUID().uuidString)"
        )
        defer { try? FileManager.default.removeItem(at: partial) }
        let queue = try DatabaseQueue(path: partial.path(percentEncoded: false))
        // In steps of 1 MiB, all from the snapshot of the reading connection.
        try databasePool.backup(to: queue, pagesPerStep: 256) { _ in
            self.configuration.onBackupStep?()
            if Task.isCancelled { throw CancellationError() }
        }
        let epoch = (0..<8).map { _ in UInt8.random(in: .min ... .max) }
        try queue.writeWithoutTransaction { database in
            // The copy has the original's journal mode, with a log file beside it.
            try database.execute(sql: "PRAGMA journal_mode = DELETE")
            try StoreFormat.setMeta("epoch", epoch, in: database)
        }
        try queue.close()
        do {
            try FileManager.default.moveItem(at: partial, to: url)
        } catch {
            // Another backup may have been faster.
            try Self.checkIsFree(url.path(percentEncoded: false))
            throw error
        }
        // The new name survives a power failure only once the folder is on disk as well. Some file systems do not
        // support this; the file is in place all the same.
        try? DiskFileSystem().syncFolder(folder.path(percentEncoded: false))
    }

    /// The result of ``checkIntegrity(onProgress:)``.
    public typealias IntegrityReport = KeelStorageAdapting.IntegrityReport

    /// Checks the file for damage: SQLite's own check, every document, and every index entry against the documents.
    ///
    /// The call reads the whole file in one snapshot; writers can continue.
    ///
    /// - Parameter onProgress: Receives the number of documents that have been checked, every thousand documents.
    /// - Returns: The problems, and the number of documents.
    /// - Throws: The error of a read that fails as a whole; damage is reported in the result.
    public func checkIntegrity(
        onProgress: (@Sendable (Int) -> Void)? = nil
    ) async throws(StorageError) -> IntegrityReport {
        do throws(StorageError) {
            return try await copying.run { [self] () async throws(StorageError) in
                try await reading {
                    try readSnapshot {
                        try IntegrityReport(of: FileTables($0), onProgress: onProgress)
                    }
                }
            }
        } catch {
            guard error.code == .corrupted else { throw error.during("checkIntegrity") }
            // A file too damaged to be checked is a finding, not a failure of the check.
            return IntegrityReport(problems: [error.message], documentCount: 0)
        }
    }
}
#endif
