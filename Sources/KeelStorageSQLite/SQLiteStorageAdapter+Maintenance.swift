#if SQLite
public import Foundation
internal import GRDB
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    /// Brings the change log and the history within their limits now, gives free pages back to the file system and
    /// empties the log file.
    ///
    /// It needs room for two further copies of the file while it runs: SQLite builds the new file beside
    /// the old one, and writes it through its log. Readers that stay open keep the log from being emptied
    /// for as long as ``Configuration/busyTimeout``; the call then fails with `StorageError/Code/busy`,
    /// and the file is compacted all the same. Commits wait until it is done.
    ///
    /// A cancelled task ends it soon, and leaves the file as it was. Only when the new file is complete and
    /// is written through the log, SQLite goes on to the end.
    public func compact() async throws(StorageError) {
        while try await !maintaining({ [self] in try trim($0, StoreState($0)) }) {}
        _ = try await maintaining { [self] in try forget($0, StoreState($0), most: .max) }
        try await working { database in
            try database.execute(sql: "PRAGMA optimize")
            try database.execute(sql: "VACUUM")
        }
        // Apart: a reader stands in the way of this step only.
        try await working { _ = try $0.checkpoint(.truncate) }
    }

    /// Copies the store, in a consistent state, to a file that does not exist yet.
    ///
    /// Writers go on meanwhile; the copy has what was committed when it began. A cancelled task ends it, and
    /// leaves nothing behind. It is a store of its
    /// own: cursors of the original are not valid on it, because the two go separate ways from here.
    public func backup(to url: URL) async throws(StorageError) {
        let destination = url.path(percentEncoded: false)
        guard !FileManager.default.fileExists(atPath: destination) else {
            throw StorageError(
                .alreadyExists,
                "there is a file at “\(destination)” already",
                operation: "backup",
                resource: destination
            )
        }
        do throws(StorageError) {
            try await copying.run { [self] () async throws(StorageError) in
                try await whileBusy { try copy(to: url) }
            }
        } catch {
            throw error.during("backup", on: destination)
        }
    }

    private func copy(to url: URL) throws {
        let folder = url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Under its final name a copy is always whole.
        let partial = folder.appending(
            path: ".\(url.lastPathComponent).partial-\(UUID().uuidString)"
        )
        defer { try? FileManager.default.removeItem(at: partial) }
        let queue = try DatabaseQueue(path: partial.path(percentEncoded: false))
        // In steps of a megabyte, all of the one snapshot that the reading connection has.
        try databasePool.backup(to: queue, pagesPerStep: 256) { _ in
            self.configuration.onBackupStep?()
            if Task.isCancelled { throw CancellationError() }
        }
        let epoch = (0..<8).map { _ in UInt8.random(in: .min ... .max) }
        try queue.writeWithoutTransaction { database in
            // The copy arrives in the mode of the original, with a log file beside it.
            try database.execute(sql: "PRAGMA journal_mode = DELETE")
            try StoreFormat.setMeta("epoch", epoch, in: database)
        }
        try queue.close()
        try FileManager.default.moveItem(at: partial, to: url)
    }

    /// What ``checkIntegrity()`` found.
    public struct IntegrityReport: Sendable, Hashable {
        /// What is wrong, each in one sentence without contents; empty for a sound store.
        public var problems: [String]
        /// How many documents were looked at.
        public var documentCount: Int

        /// Whether nothing is wrong.
        public var isSound: Bool { problems.isEmpty }

        package init(problems: [String], documentCount: Int) {
            self.problems = problems
            self.documentCount = documentCount
        }
    }

    /// Looks for damage: SQLite's own check of the file, then every document, and every index entry
    /// against what the documents say.
    ///
    /// It reads the whole file in one snapshot; writers go on meanwhile.
    public func checkIntegrity() async throws(StorageError) -> IntegrityReport {
        do throws(StorageError) {
            return try await copying.run { [self] () async throws(StorageError) in
                try await whileBusy {
                    try readSnapshot { reader in
                        var check = IntegrityCheck(FileTables(reader))
                        try check.run()
                        return IntegrityReport(
                            problems: check.problems,
                            documentCount: check.documentCount
                        )
                    }
                }
            }
        } catch {
            guard error.code == .corrupted else { throw error.during("checkIntegrity") }
            // A file too damaged for its checks is a finding, not a failure of the check.
            return IntegrityReport(problems: [error.message], documentCount: 0)
        }
    }
}
#endif
