#if PostgreSQL
internal import KeelStorageAdapting

/// The tables of the schema `keel`, which hold any number of stores.
///
/// - `stores`: a row for each store, its *tail*. Every commit locks it until the commit is visible, so commits have the
///   order of their sequences, and a read that sees a sequence sees everything up to it.
/// - `collections`: the numbers of the paths of collections, never changed or reused; `key` is the prefix of the keys
///   of their documents' paths (`GroupOrder`).
/// - `documents`: numbered by `did`.
/// - `indexes`: the definitions of all programs, which every writer maintains; `built` is the progress.
/// - `entries`: the indexes' keys (`EntryKey`). Group indexes use collection 0.
/// - `words`: the words of the indexes for text search.
/// - `changes`: the change log (`LogTrimming`); `mark` is drawn by each group of commits (`LogPoint`), `time` is that
///   of a removal if it is not its sequence, `total` is the size of all changes so far.
/// - `clients`: the clients of origins, and the last mutation of each.
/// - `groups`: the last group of commits of each adapter, for finding out an unknown outcome.
/// - `receipts`: of batches with an id.
/// - `moments`: the last change at certain times (`StoreAge`).
/// - `readers`: the positions of the registered readers of the log (`ReaderNeed`).
/// - `history`: former states of documents, each until the time of the commit that replaced it.
/// - `records`: the records that the servers of a store share (`SharedRecords`).
///
/// Names, ids and keys are `bytea`: an id may contain U+0000, which `text` refuses, and bytes have no collation that an
/// update of the operating system changes. There are neither foreign keys nor triggers, because only Keel writes the
/// tables.
enum StoreTables {
    /// The version of a store's contents.
    static let format: Int64 = 1
    static let version = 2

    private static let creation = [
        // A role with more rights may have created the schema without the tables.
        """
        DO $$ BEGIN
            IF to_regnamespace('keel') IS NULL THEN CREATE SCHEMA keel; END IF;
        END $$
        """,
        // Versions of the tail die with every commit; the free space lets the next ones stay on the same page.
        """
        CREATE TABLE keel.stores(
            store bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name bytea NOT NULL UNIQUE,
            format bigint NOT NULL,
            epoch bigint NOT NULL,
            seq bigint NOT NULL DEFAULT 0,
            mark bigint NOT NULL DEFAULT 0,
            generation bigint NOT NULL DEFAULT 0,
            floor bigint NOT NULL DEFAULT 0,
            trimmed bigint NOT NULL DEFAULT 0,
            documents bigint NOT NULL DEFAULT 0,
            collections bigint NOT NULL DEFAULT 0,
            clients bigint NOT NULL DEFAULT 0,
            indexes bigint NOT NULL DEFAULT 0,
            timeline bigint NOT NULL DEFAULT 0,
            proof bytea,
            history_age bigint,
            history_start bigint
        ) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0)
        """,
        """
        CREATE TABLE keel.collections(
            store bigint NOT NULL,
            cid bigint NOT NULL,
            path bytea NOT NULL,
            name bytea NOT NULL,
            key bytea NOT NULL,
            PRIMARY KEY (store, cid)
        )
        """,
        // Paths and keys may be longer than an index allows, so their beginnings order them.
        "CREATE INDEX collections_by_path ON keel.collections(store, substring(path FROM 1 FOR 2000))",
        "CREATE INDEX collections_in_order ON keel.collections(store, substring(key FROM 1 FOR 2000))",
        """
        CREATE INDEX collections_by_name
        ON keel.collections(store, name, substring(key FROM 1 FOR 1000))
        """,
        """
        CREATE TABLE keel.documents(
            store bigint NOT NULL,
            did bigint NOT NULL,
            cid bigint NOT NULL,
            id bytea NOT NULL,
            rev bigint NOT NULL,
            created bigint NOT NULL,
            updated bigint NOT NULL,
            body bytea NOT NULL,
            PRIMARY KEY (store, did),
            UNIQUE (store, cid, id)
        ) WITH (fillfactor = 85)
        """,
        """
        CREATE TABLE keel.indexes(
            store bigint NOT NULL,
            ix bigint NOT NULL,
            name text NOT NULL,
            definition bytea NOT NULL,
            built bigint,
            PRIMARY KEY (store, ix)
        )
        """,
        """
        CREATE TABLE keel.entries(
            store bigint NOT NULL,
            ix bigint NOT NULL,
            cid bigint NOT NULL,
            key bytea NOT NULL,
            did bigint NOT NULL,
            PRIMARY KEY (store, ix, cid, key, did)
        )
        """,
        """
        CREATE TABLE keel.words(
            store bigint NOT NULL,
            ix bigint NOT NULL,
            cid bigint NOT NULL,
            word bytea NOT NULL,
            did bigint NOT NULL,
            field bigint NOT NULL,
            PRIMARY KEY (store, ix, cid, word, did, field)
        )
        """,
        """
        CREATE TABLE keel.changes(
            store bigint NOT NULL,
            seq bigint NOT NULL,
            cid bigint NOT NULL,
            id bytea NOT NULL,
            rev bigint NOT NULL,
            removed boolean NOT NULL,
            mark bigint NOT NULL,
            time bigint,
            client bigint,
            mutation bigint,
            PRIMARY KEY (store, seq)
        ) WITH (autovacuum_vacuum_insert_scale_factor = 0.02)
        """,
        "CREATE INDEX removals ON keel.changes(store, cid, id, seq) WHERE removed",
        """
        CREATE TABLE keel.clients(
            store bigint NOT NULL,
            number bigint NOT NULL,
            name bytea NOT NULL,
            mutation bigint NOT NULL,
            PRIMARY KEY (store, number),
            UNIQUE (store, name)
        )
        """,
        """
        CREATE TABLE keel.groups(
            store bigint NOT NULL,
            instance bytea NOT NULL,
            number bigint NOT NULL,
            seq bigint NOT NULL,
            PRIMARY KEY (store, instance)
        )
        """,
        """
        CREATE TABLE keel.receipts(
            store bigint NOT NULL,
            id bytea NOT NULL,
            time bigint NOT NULL,
            mark bigint NOT NULL,
            receipt bytea NOT NULL,
            PRIMARY KEY (store, id)
        )
        """,
        "CREATE INDEX receipts_in_order ON keel.receipts(store, time)",
        """
        CREATE TABLE keel.history(
            store bigint NOT NULL,
            cid bigint NOT NULL,
            id bytea NOT NULL,
            time bigint NOT NULL,
            did bigint NOT NULL,
            rev bigint,
            created bigint,
            updated bigint,
            body bytea,
            PRIMARY KEY (store, cid, id, time)
        )
        """,
        // By an expression that only trimming uses: reads of one document's images must not walk those of all.
        "CREATE INDEX history_in_order ON keel.history(store, (time + 0))",
        """
        DO $$ BEGIN
            IF 'lz4' = ANY (SELECT unnest(enumvals) FROM pg_settings WHERE name = 'default_toast_compression')
            THEN
                ALTER TABLE keel.documents ALTER body SET COMPRESSION lz4;
                ALTER TABLE keel.history ALTER body SET COMPRESSION lz4;
            END IF;
        END $$
        """,
    ]

    /// The columns and tables that a database of an earlier program lacks, and that the earlier program ignores.
    private static let additions = [
        // Behind a statement that waits for a dump to end, all commits and reads would wait too.
        "SET LOCAL lock_timeout = '1s'",
        // A commit has a lock on this table before it uses another one.
        "LOCK TABLE keel.stores IN ACCESS EXCLUSIVE MODE",
        """
        ALTER TABLE keel.stores
            ADD COLUMN IF NOT EXISTS compacted bigint NOT NULL DEFAULT 0,
            ADD COLUMN IF NOT EXISTS kept bigint NOT NULL DEFAULT 0,
            ADD COLUMN IF NOT EXISTS total bigint NOT NULL DEFAULT 0
        """,
        "ALTER TABLE keel.changes ADD COLUMN IF NOT EXISTS total bigint",
        """
        CREATE TABLE IF NOT EXISTS keel.moments(
            store bigint NOT NULL,
            time bigint NOT NULL,
            wall bigint NOT NULL,
            seq bigint NOT NULL,
            PRIMARY KEY (store, time)
        )
        """,
        """
        CREATE TABLE IF NOT EXISTS keel.readers(
            store bigint NOT NULL,
            name bytea NOT NULL,
            seq bigint NOT NULL,
            seen bigint NOT NULL,
            lifetime bigint NOT NULL,
            PRIMARY KEY (store, name)
        )
        """,
        // Without a write-ahead log, because losing all records is allowed.
        """
        CREATE UNLOGGED TABLE IF NOT EXISTS keel.records(
            store bigint NOT NULL,
            key bytea NOT NULL,
            content bytea NOT NULL,
            expires bigint NOT NULL,
            version bigint NOT NULL,
            created bigint NOT NULL,
            PRIMARY KEY (store, key)
        ) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0)
        """,
    ]

    /// The table that a version adds last, by which the version is recognized.
    private static let last = "records"

    /// Returns the version of a database's tables; 0 without tables.
    static func version(in connection: DatabaseConnection) throws -> Int {
        if try exist(last, connection) { return version }
        return try exist("history", connection) ? 1 : 0
    }

    static func migration(from version: Int) -> [String] {
        switch version {
        case 0: creation + additions
        case 1: additions
        default: []
        }
    }

    /// Creates the tables in a database that lacks them, and completes those of an earlier program.
    ///
    /// While other programs have the tables locked, it tries again every two seconds, and lets commits through
    /// meanwhile.
    ///
    /// - Returns: The version that the tables had.
    /// - Throws: `StorageError/Code/busy` if the tables stay locked, and errors of the database.
    @discardableResult
    static func create(
        _ connection: DatabaseConnection,
        waiting patience: Duration = .seconds(60)
    ) throws -> Int {
        guard try !exist(last, connection) else { return version }
        let former = try version(in: connection)
        let statements = ["BEGIN"] + migration(from: former) + ["COMMIT"]
        let deadline = ContinuousClock.now + patience
        while true {
            do {
                try connection.run(statements.map { DatabaseStatement($0) })
                return former
            } catch let failure as DatabaseFailure where !failure.isConnectionLost {
                try connection.run(DatabaseStatement("ROLLBACK"))
                // Another program may have created them at the same time.
                if try exist(last, connection) { return version }
                guard failure.state == "55P03" else { throw failure }
                guard ContinuousClock.now < deadline else {
                    throw StorageError(
                        .busy,
                        "another program’s transaction, such as a dump, keeps the store’s tables locked, which are "
                            + "to be completed; try again once it has ended",
                        cause: failure
                    )
                }
                try connection.pause(.seconds(2))
            }
        }
    }

    private static func exist(_ table: String, _ connection: DatabaseConnection) throws -> Bool {
        let rows = try connection.run(
            DatabaseStatement("SELECT to_regclass('keel.\(table)') IS NOT NULL")
        )
        return rows.first?.boolean(0) ?? false
    }
}
#endif
