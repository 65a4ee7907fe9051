#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The tables of a store's file.
///
/// - `meta`: data of the whole file: its epoch, the proof of the sealing key, and the age and start of its history.
/// - `state`: one row of numbers that every commit reads.
/// - `collections`: the numbers of the paths of collections, never changed or used again; `key` is the prefix of the
///   keys of their documents' paths (``GroupOrder``). Empty ones are removed (``EmptyCollections``).
/// - `documents`: the documents; `pending` is unused.
/// - `indexes`: the definitions that every writer maintains, by any declaring process; `built` is the progress
///   (``IndexBuild``).
/// - `entries`: the indexes' keys (`EntryKey`). Group indexes use collection 0.
/// - `changes`: the change log (`LogTrimming`); `mark` is a number drawn by each transaction (``LogPoint``), `client`
///   and `mutation` are the change's origin (``StoredOrigins``), `total` is the size of all changes so far.
/// - `clients`: the clients of origins, and the last mutation of each.
/// - `receipts`: the receipts of batches with an id.
/// - `moments`: the last change at certain times (`StoreAge`).
/// - `removal_times`: the times of removals that differ from their sequence (``RemovalTimes``).
/// - `readers`: the positions of the registered readers of the change log (``StoredReaders``).
/// - `search_1`, …: a full-text table for each search definition, numbered like its index.
/// - `history`: former states of documents, if the store keeps them (``StoredHistory``).
enum StoreFormat {
    /// The version in `user_version`.
    ///
    /// Versions before 3 have whole keys in their indexes, and would add such keys to cut ones. Those before 5 never
    /// remove collections, and would write documents of removed ones.
    static let version: Int64 = 5

    /// The version of a file with a history, which older writers would corrupt.
    static let versionWithHistory = version + 1

    /// The `application_id` of a Keel store: “KEEL” in ASCII.
    static let applicationID: Int64 = 0x4B45_454C

    static let proofKey = "seal"

    static let tables = """
        CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
        CREATE TABLE state(
            one INTEGER PRIMARY KEY CHECK (one = 1),
            generation INTEGER NOT NULL,
            floor INTEGER NOT NULL,
            trimmed INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE collections(
            cid INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, key BLOB
        ) STRICT;
        \(CollectionKeys.index)
        \(CollectionKeys.order)
        CREATE TABLE documents(
            rid INTEGER PRIMARY KEY,
            cid INTEGER NOT NULL,
            id TEXT NOT NULL,
            rev INTEGER NOT NULL,
            created INTEGER NOT NULL,
            updated INTEGER NOT NULL,
            pending INTEGER NOT NULL,
            body BLOB NOT NULL,
            UNIQUE(cid, id)
        ) STRICT;
        CREATE TABLE indexes(
            ix INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            definition BLOB NOT NULL UNIQUE,
            built INTEGER
        ) STRICT;
        CREATE TABLE entries(
            ix INTEGER NOT NULL,
            cid INTEGER NOT NULL,
            key BLOB NOT NULL,
            rid INTEGER NOT NULL,
            PRIMARY KEY(ix, cid, key, rid)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE changes(
            seq INTEGER PRIMARY KEY,
            cid INTEGER NOT NULL,
            id TEXT NOT NULL,
            rev INTEGER NOT NULL,
            removed INTEGER NOT NULL,
            mark INTEGER
        ) STRICT;
        \(StoredOrigins.additions)
        CREATE TABLE receipts(
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            time INTEGER NOT NULL,
            receipt BLOB NOT NULL
        ) STRICT;
        CREATE TABLE readers(
            name TEXT PRIMARY KEY, seq INTEGER NOT NULL, seen INTEGER NOT NULL
        ) STRICT;
        INSERT INTO state VALUES (1, 0, 0, 0);
        \(StoredLog.additions)
        \(added)
        """

    /// The tables that files of earlier versions lack, and earlier versions ignore.
    private static let added = StoredMoments.table + RemovalTimes.tables

    /// Checks that this version of Keel may write to a file, which another program may have upgraded meanwhile.
    ///
    /// - Throws: `StorageError/Code/schemaTooNew` for a file of a later version.
    static func check(_ database: Database) throws {
        let found = try RawStatement(database, "PRAGMA user_version").first { $0.integer(0) } ?? 0
        guard found > versionWithHistory else { return }
        throw StorageError(
            .schemaTooNew,
            "the store has format \(found); this version of Keel knows up to \(versionWithHistory)"
        )
    }

    /// Upgrades a file of an earlier version; a complete file needs no lock.
    static func complete(_ database: Database) throws {
        guard try !isComplete(database) else { return }
        try database.inTransaction(.immediate) {
            // Two processes may open the file at once.
            guard try !isComplete(database) else { return .commit }
            if try !hasColumn("mark", in: "changes", database) {
                try database.execute(sql: LogPoint.addColumn)
            }
            if try !hasColumn("client", in: "changes", database) {
                try database.execute(sql: StoredOrigins.additions)
            }
            if try !hasColumn("total", in: "changes", database) {
                try database.execute(sql: StoredLog.additions)
            }
            if try !hasColumn("key", in: "collections", database) {
                try CollectionKeys.addKeys(in: database)
            }
            try database.execute(sql: CollectionKeys.order + added)
            if try isFormer(database) { try upgrade(database) }
            return .commit
        }
    }

    private static func isComplete(_ database: Database) throws -> Bool {
        let sql = """
            SELECT (SELECT count(*) FROM pragma_table_info('changes')
                WHERE name IN ('mark', 'client', 'total'))
            + (SELECT count(*) FROM pragma_table_info('collections') WHERE name = 'key')
            + (SELECT count(*) FROM sqlite_master
                WHERE name IN ('moments', 'removal_times', 'removals', '\(CollectionKeys.orderName)'))
            """
        return try Int.fetchOne(database, sql: sql) == 8 && !isFormer(database)
    }

    private static func isFormer(_ database: Database) throws -> Bool {
        try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0 < version
    }

    /// Redeclares the indexes that have whole keys, and raises the version; call it in a write transaction.
    ///
    /// Queries scan until ``IndexBuild`` has built them and removed the old entries.
    private static func upgrade(_ database: Database) throws {
        let former = try RawStatement(
            database,
            """
            SELECT ix, definition FROM indexes WHERE built IS NULL OR built <> \(IndexBuild.dropped)
            """
        )
        var renewed: [StoredIndex.Kind] = []
        var numbers: [Int64] = []
        try former.each { row in
            let (kind, keys) = try StoredIndex.Kind.decoded(row.bytes(1))
            if keys != StoredIndex.Kind.currentKeys {
                numbers.append(row.integer(0))
                renewed.append(kind)
            }
            return true
        }
        let drop = try RawStatement(
            database,
            "UPDATE indexes SET built = \(IndexBuild.dropped) WHERE ix = ?"
        )
        for number in numbers {
            try drop.bind(1, number)
            try drop.run()
        }
        for kind in renewed { try IndexBuild.declare(kind, in: database) }
        let found = try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        // Files with a history have even versions.
        let present = found % 2 == 0 ? versionWithHistory : version
        try database.execute(sql: "PRAGMA user_version = \(present)")
        try StoreState.advanceGeneration(in: database)
    }

    static func hasColumn(_ column: String, in table: String, _ database: Database) throws -> Bool {
        // Not from GRDB's schema cache, because another process may have changed the schema.
        let sql = "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?"
        return try Int.fetchOne(database, sql: sql, arguments: [table, column]) == 1
    }

    static func create(in database: Database, epoch: [UInt8], proof: [UInt8]?) throws {
        try database.execute(sql: tables)
        try setMeta("epoch", epoch, in: database)
        if let proof { try setMeta(proofKey, proof, in: database) }
        try database.execute(sql: "PRAGMA application_id = \(applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(version)")
    }

    static func meta(_ key: String, in database: Database) throws -> [UInt8]? {
        let statement = try RawStatement(database, "SELECT value FROM meta WHERE key = ?")
        try statement.bind(1, key)
        return try statement.first { $0.bytes(0) }
    }

    static func setMeta(_ key: String, _ value: [UInt8], in database: Database) throws {
        let statement = try RawStatement(database, "INSERT OR REPLACE INTO meta VALUES (?, ?)")
        try statement.bind(1, key)
        try statement.bind(2, value)
        try statement.run()
    }
}

struct StoreState {
    /// The version of the set of indexes, which shows that a cached set is outdated.
    var generation: Int64
    /// The highest revision of a removal that was greater than its sequence.
    var floor: Int64
    /// The highest sequence that the log has trimmed; readers receive only later changes.
    ///
    /// Its row stays in the log for its mark.
    var trimmed: Int64
    var compacted: Int64
    /// The size of the log between ``trimmed`` and ``compacted`` in bytes, as `LogTrimming` counts it.
    var kept: Int64
    var sequence: Int64

    /// The time of the store's state: sequences follow the clock, and continue when it goes back.
    var time: Timestamp { Timestamp(microseconds: sequence) }

    init(_ database: Database) throws {
        // All columns, because a read-only file of an earlier version has fewer.
        let statement = try RawStatement(
            database,
            "SELECT (SELECT max(seq) FROM changes), * FROM state"
        )
        let row = try statement.first { row in
            let isWhole = row.columnCount > 6
            let (compacted, kept) = isWhole ? (row.integer(5), row.integer(6)) : (0, 0)
            return (row.integer(0), row.integer(2), row.integer(3), row.integer(4), compacted, kept)
        }
        guard let row else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the store has no state")
        }
        (sequence, generation, floor, trimmed, compacted, kept) = row
        // Earlier versions trim without compacting.
        guard compacted <= trimmed else { return }
        (compacted, kept) = (trimmed, 0)
    }

    static func advanceGeneration(in database: Database) throws {
        try database.runCached("UPDATE state SET generation = generation + 1")
    }

    static func sequence(in database: Database) throws -> Int64 {
        try RawStatement(database, "SELECT max(seq) FROM changes").first { $0.integer(0) } ?? 0
    }
}
#endif
