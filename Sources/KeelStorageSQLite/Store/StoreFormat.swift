#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The tables of a store's file.
///
/// - `meta`: what concerns the whole file: its epoch, and the proof of the sealing key.
/// - `state`: one row of numbers that every commit reads.
/// - `collections`: numbers for the paths of collections, never changed and never given away again; `key` is
///   what the keys of their documents' paths begin with (``GroupOrder``).
/// - `documents`: the documents; `pending` is not used.
/// - `indexes`: the definitions that every writer maintains, whichever process declared them; `built` says
///   how far each has come (``IndexBuild``).
/// - `entries`: the indexes' keys (`EntryKey`). Group indexes use collection 0.
/// - `changes`: the change log (``LogTrimming``); `mark` is a number that each commit draws (``LogPoint``),
///   `client` and `mutation` are the change's origin (``StoredOrigins``), `total` is what the log has taken
///   up to there.
/// - `clients`: the clients that origins name, and the last mutation of each.
/// - `receipts`: the receipts of batches that carry an id.
/// - `moments`: which change was the last one at which time (``StoreAge``).
/// - `removal_times`: the times of removals that differ from their sequence (``RemovalTimes``).
/// - `readers`: how far the registered readers of the change log have come (``StoredReaders``).
/// - `search_1`, …: a full-text table for each search definition, numbered like its index.
/// - `history`: what documents were, where the store keeps that (``StoredHistory``).
enum StoreFormat {
    /// The version of these tables, kept in `user_version`.
    ///
    /// A version before 3 kept whole keys in its indexes, and would add such keys to those that are cut.
    static let version: Int64 = 3

    /// The version of a file with a history, which writers that know nothing of it would spoil.
    static let versionWithHistory: Int64 = 4

    /// How far these versions are from those of a file whose indexes have whole keys.
    private static let sinceWholeKeys: Int64 = 2

    /// Marks the file as a Keel store, kept in `application_id`: “KEEL” in ASCII.
    static let applicationID: Int64 = 0x4B45_454C

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
        \(LogTrimming.additions)
        \(added)
        """

    /// What files of earlier versions lack, and such versions pass over.
    private static let added = StoreAge.table + RemovalTimes.tables

    /// Adds what a file of an earlier version lacks; mostly nobody has to wait for a lock.
    static func complete(_ database: Database) throws {
        guard try !isComplete(database) else { return }
        try database.inTransaction(.immediate) {
            // Two processes may open it at once.
            guard try !isComplete(database) else { return .commit }
            if try !hasColumn("mark", in: "changes", database) {
                try database.execute(sql: LogPoint.addColumn)
            }
            if try !hasColumn("client", in: "changes", database) {
                try database.execute(sql: StoredOrigins.additions)
            }
            if try !hasColumn("total", in: "changes", database) {
                try database.execute(sql: LogTrimming.additions)
            }
            if try !hasColumn("key", in: "collections", database) {
                try CollectionKeys.addKeys(in: database)
            }
            try database.execute(sql: CollectionKeys.order + added)
            if try needsNewKeys(database) { try renewKeys(in: database) }
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
        return try Int.fetchOne(database, sql: sql) == 8 && !needsNewKeys(database)
    }

    private static func needsNewKeys(_ database: Database) throws -> Bool {
        try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0 < version
    }

    /// Declares the indexes of a file with whole keys anew, inside of a write transaction.
    ///
    /// Queries scan until ``IndexBuild`` has built them; it removes the former entries too.
    private static func renewKeys(in database: Database) throws {
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
        try database.execute(sql: "PRAGMA user_version = \(found + sinceWholeKeys)")
        try StoreState.advanceGeneration(in: database)
    }

    /// Whether a table has a column.
    static func hasColumn(_ column: String, in table: String, _ database: Database) throws -> Bool {
        // Not from GRDB's memory of the schema, which another process may have changed.
        let sql = "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?"
        return try Int.fetchOne(database, sql: sql, arguments: [table, column]) == 1
    }

    /// Creates the tables in an empty file, inside of a transaction.
    static func create(in database: Database, epoch: [UInt8], proof: [UInt8]?) throws {
        try database.execute(sql: tables)
        try setMeta("epoch", epoch, in: database)
        if let proof { try setMeta("seal", proof, in: database) }
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

/// The numbers that every commit and every snapshot of several reads begins with.
struct StoreState {
    /// Counts the changes to the set of indexes, so that a cached set can be told to be old.
    var generation: Int64
    /// The highest revision of a removed document that lies beyond the log's sequence.
    var floor: Int64
    /// The highest sequence whose change readers no longer get.
    ///
    /// Its row stays in the log only for its mark.
    var trimmed: Int64
    /// The sequence up to which the log has only the last change of each document.
    var compacted: Int64
    /// How many bytes the log takes between both, as ``LogTrimming`` counts them.
    var kept: Int64
    /// The sequence of the last change.
    var sequence: Int64

    /// The store's time: sequences follow the clock, and go on where it goes back.
    var time: Timestamp { Timestamp(microseconds: sequence) }

    init(_ database: Database) throws {
        // All columns, because a file of an earlier version that is only read has fewer.
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
        // An earlier version trims without compacting.
        guard compacted <= trimmed else { return }
        (compacted, kept) = (trimmed, 0)
    }

    /// Makes every writer and reader look anew at what the file keeps besides documents.
    static func advanceGeneration(in database: Database) throws {
        try database.runCached("UPDATE state SET generation = generation + 1")
    }

    /// The sequence of the last change alone.
    static func sequence(in database: Database) throws -> Int64 {
        try RawStatement(database, "SELECT max(seq) FROM changes").first { $0.integer(0) } ?? 0
    }
}
#endif
