#if SQLite
internal import Foundation
internal import GRDB
internal import KeelCore
internal import KeelStorageAdapting

struct StoreOpening {
    let location: SQLiteStorageLocation
    let configuration: SQLiteStorageAdapter.Configuration

    private var sealing: BodySealing { BodySealing(sealing: configuration.sealing) }

    struct Opened {
        let path: String
        let pool: DatabasePool
        let connections: ReadConnections
        let epoch: UInt64
    }

    func open() throws -> Opened {
        // SQLite keeps the log beside the file to which a link leads.
        let path = URL(fileURLWithPath: try location.path()).resolvingSymlinksInPath()
            .path(percentEncoded: false)
        if configuration.isReadOnly {
            guard FileManager.default.fileExists(atPath: path) else {
                throw StorageError(.unavailable, "there is no store at “\(path)”", resource: path)
            }
        } else {
            try createFolder(of: path)
        }
        // The wait is here and not in SQLite, so that calls on the open store can wait without blocking a thread.
        let end = Date(timeIntervalSinceNow: configuration.busyTimeout.seconds)
        while true {
            do {
                return try attempt(path)
            } catch let error as DatabaseError where error.isBusy && Date() < end {
                Thread.sleep(forTimeInterval: 0.01)
            } catch let error as StorageError {
                throw error.during("open", on: path)
            } catch {
                throw StorageError(mapping: error).during("open", on: path)
            }
        }
    }

    private func createFolder(of path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw StorageError(
                .readOnly,
                "the folder of the store cannot be created",
                operation: "open",
                resource: path,
                cause: error
            )
        }
    }

    private func attempt(_ path: String) throws -> Opened {
        let first = try existing(path)
        if first == nil, !configuration.isReadOnly { try create(path) }
        let pool = try DatabasePool(path: path, configuration: settings)
        let connections = ReadConnections(path: path, settings: settings, first: first)
        let epoch = try connections.read { database in try checkedEpoch(of: database) }
        if configuration.durability == .power, !configuration.isReadOnly {
            // GRDB sets NORMAL when it turns on the write-ahead log.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        }
        if !configuration.isReadOnly {
            try pool.writeWithoutTransaction { try StoreFormat.complete($0) }
            // Nothing depends on it now: if the file is busy or the disk full, the next opening does it.
            try? pool.writeWithoutTransaction { try StoreProof(sealing, in: $0).renew() }
        }
        if let age = configuration.history, !configuration.isReadOnly {
            try pool.writeWithoutTransaction { try StoredHistory.keep(age, in: $0) }
        }
        if !configuration.isReadOnly {
            // There may be no commits for a long time, so opening removes old images too, unless the file is busy or
            // the disk full.
            try? pool.writeWithoutTransaction { database in
                guard let history = try StoredHistory(database) else { return }
                try database.inTransaction(.immediate) {
                    let age = try StoreAge(
                        database,
                        configuration,
                        StoreState(database),
                        history: history.age
                    )
                    try history.forget(by: age, in: database)
                    return .commit
                }
            }
        }
        return Opened(path: path, pool: pool, connections: connections, epoch: epoch)
    }

    private var settings: GRDB.Configuration {
        var settings = GRDB.Configuration()
        settings.readonly = configuration.isReadOnly
        settings.busyMode = .timeout(0.005)
        settings.maximumReaderCount = max(1, configuration.readerCount)
        settings.foreignKeysEnabled = false
        settings.label = "keel.storage"
        // Negative for a size in KiB instead of a number of pages.
        let cacheSize = -max(1, configuration.cacheSize >> 10)
        settings.prepareDatabase { [mostPages = configuration.mostPages] database in
            // GRDB would let readers wait for ten seconds on a blocked thread.
            try database.execute(
                sql: "PRAGMA busy_timeout = 5; PRAGMA cache_size = \(cacheSize)"
            )
            if database.configuration.readonly { database.endStatementsOfCancelledTasks() }
            guard let mostPages else { return }
            try database.execute(sql: "PRAGMA max_page_count = \(mostPages)")
        }
        return settings
    }

    // MARK: Creation

    /// Returns a read-only connection to the file; nil if the file must be created.
    ///
    /// Without SQLite, closing a descriptor of the file would drop all locks of the process on it, including those of
    /// other adapters. Another process could then believe that it closes the last connection, and remove the log to
    /// which these adapters still write. https://sqlite.org/howtocorrupt.html, section 2.2
    private func existing(_ path: String) throws -> DatabaseQueue? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        guard let size = attributes?[.size] as? NSNumber, size.int64Value > 0 else { return nil }
        // An interrupted creation leaves a journal, which only a writing connection can roll back.
        if FileManager.default.fileExists(atPath: path + "-journal") { return nil }
        let queue = try ReadConnections.open(path, settings)
        try queue.unsafeRead { database in
            let id = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            guard id == StoreFormat.applicationID else { throw Self.foreign }
            try StoreFormat.check(database)
        }
        return queue
    }

    private func create(_ path: String) throws {
        // On a separate connection without the write-ahead log, so that the header is in the file itself as soon as
        // the store exists.
        let queue = try DatabaseQueue(path: path, configuration: settings)
        defer { try? queue.close() }
        let epoch = (0..<8).map { _ in UInt8.random(in: .min ... .max) }
        let proof = try sealing.newProof()
        try queue.inTransaction(.exclusive) { database in
            let id = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
            if id == StoreFormat.applicationID { return .rollback }
            let tables = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
            guard id == 0, tables == 0 else { throw Self.foreign }
            try StoreFormat.create(in: database, epoch: epoch, proof: proof)
            return .commit
        }
    }

    // MARK: Checks

    private func checkedEpoch(of database: Database) throws -> UInt64 {
        try StoreFormat.check(database)
        guard let epoch = try StoreFormat.meta("epoch", in: database), epoch.count == 8 else {
            throw Self.foreign
        }
        try sealing.check(StoreFormat.meta(StoreFormat.proofKey, in: database)) {
            try StoreProof(sealing, in: database).opensDocument()
        }
        return UInt64(bigEndianBytes: epoch)
    }

    private static var foreign: StorageError {
        StorageError(
            .corrupted,
            "the file is an SQLite database but not a Keel store; choose another path for the store"
        )
    }
}

extension Duration {
    var seconds: Double { self / .seconds(1) }
}
#endif
