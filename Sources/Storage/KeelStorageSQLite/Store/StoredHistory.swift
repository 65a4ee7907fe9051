#if SQLite
internal import GRDB
internal import KeelCore
internal import KeelStorageAdapting
internal import Synchronization

/// The history of a file, with the former states of its documents.
///
/// `history` has an image of a document for each commit that changed it: its state until the time of that commit,
/// without a body if there was none. The state at a time is the present one, with each document replaced by its
/// earliest later image. Images are numbered in the order of their times. Bodies stay sealed under their document's
/// path.
struct StoredHistory {
    let age: Duration
    /// The earliest time, in microseconds, whose state is known: all later images are present.
    let start: Int64

    private static let key = "history"

    init?(_ database: Database) throws {
        guard let bytes = try StoreFormat.meta(Self.key, in: database) else { return nil }
        guard bytes.count == 16 else {
            throw StorageError(.corrupted, "the store’s history record is damaged")
        }
        age = .microseconds(Int64(bigEndianBytes: bytes[..<8]))
        start = Int64(bigEndianBytes: bytes[8...])
    }

    private init(age: Duration, start: Int64) {
        self.age = age
        self.start = start
    }

    // MARK: Keeping

    static func keep(_ age: Duration, in database: Database) throws {
        // Usually there is nothing to change, and no lock is needed.
        guard try needsChange(to: age, in: database) else { return }
        try database.inTransaction(.immediate) {
            try StoreFormat.check(database)
            guard try needsChange(to: age, in: database) else { return .commit }
            let known = try StoredHistory(database)
            if age <= .zero {
                try database.execute(
                    sql: """
                        DROP TABLE IF EXISTS history; DELETE FROM meta WHERE key = '\(key)'
                        """
                )
            } else {
                if known == nil { try database.execute(sql: table) }
                let start = try known?.start ?? StoreState.sequence(in: database)
                try StoredHistory(age: age, start: start).write(to: database)
            }
            let version = age > .zero ? StoreFormat.versionWithHistory : StoreFormat.version
            try database.execute(sql: "PRAGMA user_version = \(version)")
            try StoreState.advanceGeneration(in: database)
            return .commit
        }
    }

    private static func needsChange(to age: Duration, in database: Database) throws -> Bool {
        let known = try StoredHistory(database)
        let version = try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        if age <= .zero { return known != nil || version == StoreFormat.versionWithHistory }
        return known?.age.microseconds != age.microseconds
            || version != StoreFormat.versionWithHistory
    }

    private static let table = """
        CREATE TABLE history(
            number INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,
            cid INTEGER NOT NULL,
            id TEXT NOT NULL,
            rev INTEGER,
            created INTEGER,
            updated INTEGER,
            pending INTEGER,
            body BLOB,
            UNIQUE(cid, id, time)
        ) STRICT;
        """

    static let mostForgotten: Int64 = 1_000

    /// Removes images that are older than the age; call it in a write transaction.
    ///
    /// - Returns: Whether nothing is left to remove; false if that is not known yet.
    @discardableResult
    func forget(
        by present: StoreAge,
        most: Int64 = mostForgotten,
        in database: Database
    ) throws -> Bool {
        guard let oldest = try present.moments(surelyOlderThan: [age])[0]?.sequence else {
            return true
        }
        let first = try RawStatement(database, "SELECT min(number) FROM history").first {
            $0.isNull(0) ? nil : $0.integer(0)
        }
        guard let first = first ?? nil else { return true }
        let limit = most < .max - first ? first + most : .max
        // Walks the images to remove, which a search by time could not improve on.
        let kept = try RawStatement(
            database,
            "SELECT number FROM history WHERE time > ? AND number < ? ORDER BY number LIMIT 1"
        )
        try kept.bind(1, oldest)
        try kept.bind(2, limit)
        let found = try kept.first { $0.integer(0) }
        let end = found ?? limit
        let last = try RawStatement(
            database,
            "SELECT time FROM history WHERE number < ? ORDER BY number DESC LIMIT 1"
        )
        try last.bind(1, end)
        guard let start = try last.first({ $0.integer(0) }) else { return true }
        let removed = try RawStatement(
            database,
            "SELECT DISTINCT cid FROM history WHERE number < ?"
        )
        try removed.bind(1, end)
        let collections = try removed.integers()
        try database.runCached("DELETE FROM history WHERE number < ?", end)
        try EmptyCollections.remove(collections, in: database)
        try StoredHistory(age: age, start: start).write(to: database)
        return found != nil
    }

    // MARK: Coding

    private func write(to database: Database) throws {
        var bytes: [UInt8] = []
        ChangePosition.append(age.microseconds, to: &bytes)
        ChangePosition.append(start, to: &bytes)
        try StoreFormat.setMeta(Self.key, bytes, in: database)
    }
}

#endif
