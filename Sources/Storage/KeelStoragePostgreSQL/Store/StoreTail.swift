#if PostgreSQL
internal import KeelStorageAdapting

/// The numbers of a store with which every commit and every read begins.
struct StoreTail {
    /// The sequence of the last change: the time of its commit in microseconds, plus its place in the batch.
    var sequence: Int64
    var mark: Int64
    /// The version of the set of indexes, which shows that a cached set is outdated.
    var generation: Int64
    /// The highest revision of a removal that was greater than its sequence.
    var floor: Int64
    /// The highest sequence that the log has trimmed; readers receive only later changes.
    ///
    /// Its row stays in the log for its mark.
    var trimmed: Int64
    /// The highest numbers of a document, a collection and a client.
    var documents: Int64
    var collections: Int64
    var clients: Int64
    /// The format of the store, greater in a store of a later version.
    var format: Int64
    /// How long former states are kept, and since when, in microseconds; nil without a history.
    var historyAge: Int64?
    var historyStart: Int64?
    /// The server's timeline at the last change; 0 before the first one.
    var timeline: Int64
    /// The sequence up to which the log has only the last change of each document.
    var compacted: Int64
    /// The size of the log between ``trimmed`` and ``compacted`` in bytes, as `LogTrimming` counts it.
    var kept: Int64
    /// The size of all changes so far in bytes, including removed ones.
    var total: Int64
    /// The server's clock, in microseconds.
    var clock: Int64
    /// The number of the table of the stores, which a table that was created anew changes.
    var tables: Int64
    /// The server's present timeline; nil on a standby.
    var serverTimeline: Int64?

    /// The number of sequences that the first change of a timeline leaves out: a minute.
    private static let leap: Int64 = 60_000_000

    static let columns = """
        seq, mark, generation, floor, trimmed, documents, collections, clients, format, history_age, history_start,
        timeline, compacted, kept, total, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
        \(DatabaseConnection.timeline), tableoid::bigint
        """
    static let columnCount: Int32 = 18

    /// The time of the store's state, which no later commit has: sequences follow the clock, and continue when it goes
    /// back.
    ///
    /// After a failover, the numbers that lost changes may have had are left out. If no more than a minute was lost,
    /// the time does not go back, and a revision is never given to two states of a document.
    var time: Timestamp {
        let isContinued = timeline == 0 || timeline == serverTimeline ?? timeline
        return Timestamp(microseconds: sequence + (isContinued ? 0 : Self.leap))
    }

    var point: LogPoint { LogPoint(sequence, mark: mark) }

    var log: LogExtent {
        var log = LogExtent(
            sequence: sequence,
            time: time,
            trimmed: trimmed,
            compacted: compacted
        )
        log.marks[sequence] = mark
        return log
    }

    var parts: LogParts {
        LogParts(
            sequence: sequence,
            total: total,
            trimmed: trimmed,
            compacted: compacted,
            kept: kept
        )
    }

    func update(of store: Int64) -> DatabaseStatement {
        DatabaseStatement(
            """
            UPDATE keel.stores
            SET seq = $2, mark = $3, floor = $4, documents = $5, collections = $6, clients = $7,
                timeline = $8, total = $9
            WHERE store = $1
            """
        ) {
            $0.add(store)
            $0.add(sequence)
            $0.add(mark)
            $0.add(floor)
            $0.add(documents)
            $0.add(collections)
            $0.add(clients)
            $0.add(timeline)
            $0.add(total)
        }
    }
}

extension StoreTail {
    /// - Throws: `StorageError/Code/corrupted` if the store's row is missing.
    init(_ rows: DatabaseRows) throws {
        guard let row = rows.first else { throw StorageError.removedStore }
        self.init(row)
    }

    /// Reads ``columns``, which begin at a place of the row.
    init(_ row: DatabaseRow, from first: Int32 = 0) {
        sequence = row.integer(first)
        mark = row.integer(first + 1)
        generation = row.integer(first + 2)
        floor = row.integer(first + 3)
        trimmed = row.integer(first + 4)
        documents = row.integer(first + 5)
        collections = row.integer(first + 6)
        clients = row.integer(first + 7)
        format = row.integer(first + 8)
        historyAge = row.optional(first + 9)
        historyStart = row.optional(first + 10)
        timeline = row.integer(first + 11)
        compacted = max(row.integer(first + 12), trimmed)
        kept = row.integer(first + 13)
        total = row.integer(first + 14)
        clock = row.integer(first + 15)
        serverTimeline = DatabaseConnection.timeline(row, first + 16)
        tables = row.integer(first + 17)
    }
}

extension StorageError {
    /// The error of a database that lacks the store's row, or has another store under its number.
    static let removedStore = StorageError(
        .corrupted,
        "the store has been removed from the database"
    )

    /// The error of a database whose tables have no store, as during the restoration of a dump.
    static let emptyTables = StorageError(
        .unavailable,
        "the store’s tables are empty; wait until they are restored, or restore a dump"
    )
}
#endif
