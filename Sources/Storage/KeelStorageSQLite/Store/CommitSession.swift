#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The work of one write transaction, batch by batch.
///
/// Each batch is computed in memory before its first row is written, so a rejected batch needs no savepoint; an error
/// of the database rolls back the whole transaction.
struct CommitSession {
    let database: Database
    private(set) var reader: StoreReader
    let epoch: UInt64
    let now: @Sendable () -> Timestamp

    var state: StoreState
    let indexes: IndexSet
    private let statements: WriteStatements
    /// Distinguishes the transaction's changes from others with the same sequences (``LogPoint``).
    private let mark: Int64
    private var end: LogPoint
    private var total: Int64
    /// The collections that the transaction has numbered, for the catalog after the commit.
    private(set) var numbered: [CollectionPath: Int64] = [:]
    private(set) var changeCount = 0
    /// The last collection, which is usually that of the next document, with its indexes.
    private var covered: (collection: Int64, indexes: [StoredIndex])?
    private var removals: RemovalTimes
    private let initialFloor: Int64

    /// The state after a commit, for the next one, current as long as the file has the same version.
    struct Tail: Sendable {
        /// ``GRDB/Database/dataVersion`` after the commit.
        let version: UInt32
        fileprivate let state: StoreState
        fileprivate let end: LogPoint
        fileprivate let total: Int64
    }

    init(
        _ database: Database,
        reader: StoreReader,
        epoch: UInt64,
        after tail: Tail?,
        beginsPeriod: Bool,
        now: @escaping @Sendable () -> Timestamp
    ) throws {
        self.database = database
        statements = WriteStatements(database)
        removals = RemovalTimes(statements)
        self.reader = reader
        self.epoch = epoch
        self.now = now
        if let tail, tail.version == database.dataVersion {
            (state, end, total) = (tail.state, tail.end, tail.total)
        } else {
            // The program that changed the file may be a later version.
            try StoreFormat.check(database)
            state = try StoreState(database)
            (end, total) = try LogPoint.last(state.sequence, in: database)
        }
        initialFloor = state.floor
        let period = beginsPeriod ? 0 : LogPoint.period(of: end.mark)
        mark = LogPoint.newMark(in: period == 0 ? LogPoint.newPeriod() : period)
        indexes = try reader.indexes(state.generation)
        self.reader.generation = state.generation
    }

    // MARK: Batches

    /// Applies a batch completely or not at all.
    ///
    /// - Throws: An error that rolls back the whole transaction; the failure of a batch is a result.
    mutating func apply(_ batch: WriteBatch) throws -> Result<CommitReceipt, StorageError> {
        let draft: CommitDraft
        do {
            if let id = batch.id, let receipt = try receipt(ofBatch: id) {
                return .success(receipt)
            }
            draft = try plan(batch)
        } catch let error as StorageError {
            return .failure(error)
        }
        let origin = try batch.origin.map { try StoredOrigin($0, in: database) }
        for change in draft.changes where change.sequence != nil {
            try store(change, of: draft, from: origin)
        }
        // A batch without changes has the time of the state that it found.
        let time = draft.changeCount > 0 ? draft.commit.storeTime : state.time
        if draft.changeCount > 0 {
            state.sequence = time.microseconds + Int64(draft.changeCount) - 1
            end = LogPoint(state.sequence, mark: mark)
        }
        var receipt = CommitReceipt(
            batchID: batch.id,
            commitTime: time,
            outcomes: draft.outcomes(of: batch.writes),
            position: ChangePosition(epoch: epoch, .log(end)).cursor
        )
        receipt.isWithoutChanges = draft.changeCount == 0
        if batch.id != nil { try keep(receipt) }
        return .success(receipt)
    }

    private mutating func plan(_ batch: WriteBatch) throws -> CommitDraft {
        try batch.checkNames()
        if let reads = batch.reads { try check(reads) }
        let commit = StorageEvaluator.Commit(after: state.time, clock: now())
        var draft = CommitDraft(
            at: commit,
            from: commit.storeTime.microseconds,
            floor: state.floor
        )
        for write in batch.writes {
            try draft.add(write) { path in
                var stored = try load(path)
                if stored.document == nil, let collection = stored.collection {
                    stored.removalTime = try removals.time(of: path.id, in: collection, at: commit)
                }
                return stored
            }
        }
        return draft
    }

    private func check(_ reads: TransactionReads) throws {
        if !reads.queries.isEmpty { try statements.finishEntries() }
        let position = ChangePosition(epoch: epoch, .log(end)).cursor
        try StorageError.mapping { try reader.check(reads, at: position, indexes) }
    }

    // MARK: Documents

    private func load(_ path: DocumentPath) throws -> CommitDraft.Stored {
        // Most transactions number no collection: skip the lookup.
        let own = numbered.isEmpty ? nil : numbered[path.collection]
        guard let number = try own ?? reader.number(of: path.collection) else {
            return CommitDraft.Stored()
        }
        guard let found = try reader.stored(at: path, in: number) else {
            return CommitDraft.Stored(collection: number)
        }
        return CommitDraft.Stored(
            collection: number,
            row: found.row,
            document: found.document,
            failure: found.failure
        )
    }

    private mutating func store(
        _ change: CommitDraft.Change,
        of draft: CommitDraft,
        from origin: StoredOrigin?
    ) throws {
        guard let sequence = change.sequence else { return }
        let collection = try change.stored.collection ?? number(change.path.collection)
        var row = change.stored.row
        if indexes.historyAge != nil {
            try keep(row, of: change.path.id, in: collection, until: draft.commit.storeTime)
        }
        if let document = change.document {
            row = try write(document, row: row, collection: collection)
        } else if let row {
            try delete(row)
            if change.revision.number > sequence {
                state.floor = max(state.floor, change.revision.number)
            }
        }
        if let row {
            var writer = IndexWriter(
                statements: statements,
                sealing: reader.sealing,
                path: change.path,
                collection: collection,
                row: row,
                before: change.stored.document?.body,
                after: change.document?.body,
                isReadable: change.stored.failure == nil
            )
            for index in covering(collection, change.path.collection) {
                try writer.update(index)
            }
        }
        try log(change, sequence, collection, origin)
        if change.document == nil {
            try removals.note(draft.time(of: change), of: sequence, at: draft.commit)
        }
        changeCount += 1
    }

    private func write(_ document: Document, row: Int64?, collection: Int64) throws -> Int64 {
        let body = try reader.sealing.seal(document.body, of: document.path)
        let statement: RawStatement
        if let row {
            statement = try statements[.updateDocument]
            try statement.bind(5, row)
        } else {
            statement = try statements[.insertDocument]
            try statement.bind(5, collection)
            try statement.bind(6, document.id)
        }
        try statement.bind(1, document.revision.number)
        try statement.bind(2, document.createTime.microseconds)
        try statement.bind(3, document.updateTime.microseconds)
        try statement.bind(4, body)
        try statement.run()
        return row ?? database.lastInsertedRowID
    }

    private func keep(
        _ row: Int64?,
        of id: String,
        in collection: Int64,
        until time: Timestamp
    ) throws {
        let statement = try statements[row == nil ? .keepAbsence : .keepImage]
        try statement.bind(1, time.microseconds)
        if let row {
            try statement.bind(2, row)
        } else {
            try statement.bind(2, collection)
            try statement.bind(3, id)
        }
        try statement.run()
    }

    private func delete(_ row: Int64) throws {
        let statement = try statements[.deleteDocument]
        try statement.bind(1, row)
        try statement.run()
    }

    private mutating func log(
        _ change: CommitDraft.Change,
        _ sequence: Int64,
        _ collection: Int64,
        _ origin: StoredOrigin?
    ) throws {
        let statement = try statements[origin == nil ? .insertChange : .insertChangeOfClient]
        try statement.bind(1, sequence)
        try statement.bind(2, collection)
        try statement.bind(3, change.path.id)
        try statement.bind(4, change.revision.number)
        try statement.bind(5, change.document == nil ? 1 : 0)
        try statement.bind(6, mark)
        total += LogTrimming.size(
            idLength: Int64(change.path.id.utf8.count),
            isRemoval: change.document == nil
        )
        try statement.bind(7, total)
        if let origin {
            try statement.bind(8, origin.client)
            try statement.bind(9, origin.mutation)
        }
        try statement.run()
    }

    // MARK: Collections and indexes

    private mutating func number(_ path: CollectionPath) throws -> Int64 {
        if let known = try numbered[path] ?? reader.number(of: path) { return known }
        let statement = try RawStatement(
            database,
            "INSERT INTO collections(path, name, key) VALUES (?, ?, ?)"
        )
        try statement.bind(1, path.string)
        try statement.bind(2, path.name)
        try statement.bind(3, IndexKey.key(ofAllIn: path))
        try statement.run()
        let number = database.lastInsertedRowID
        numbered[path] = number
        return number
    }

    private mutating func covering(_ number: Int64, _ path: CollectionPath) -> [StoredIndex] {
        if let covered, covered.collection == number { return covered.indexes }
        let found = indexes.covering(path.name)
        covered = (number, found)
        return found
    }

    // MARK: Receipts and state

    private func receipt(ofBatch id: String) throws -> CommitReceipt? {
        let statement = try RawStatement(database, "SELECT receipt FROM receipts WHERE id = ?")
        try statement.bind(1, id)
        return try statement.first { row in
            let bytes = try reader.sealing.open(row.bytes(0), as: "receipt/\(id)")
            return try StoredReceipt.decoded(bytes, id: id) { sequence in
                let point = try reader.point(at: sequence)
                return ChangePosition(epoch: epoch, .log(point)).cursor
            }
        }
    }

    private func keep(_ receipt: CommitReceipt) throws {
        guard let id = receipt.batchID else { return }
        let bytes = StoredReceipt.encoded(receipt, sequence: state.sequence)
        let statement = try RawStatement(
            database,
            "INSERT INTO receipts(id, time, receipt) VALUES (?, ?, ?)"
        )
        try statement.bind(1, id)
        // The state that a batch without changes found may be older than receipts are kept.
        let time = receipt.isWithoutChanges ? max(receipt.commitTime, now()) : receipt.commitTime
        try statement.bind(2, time.microseconds)
        try statement.bind(3, try reader.sealing.seal(bytes, as: "receipt/\(id)"))
        try statement.run()
    }

    func finish() throws {
        try statements.finishEntries()
        guard state.floor != initialFloor else { return }
        try database.runCached("UPDATE state SET floor = ?", state.floor)
    }

    /// The state after the committed transaction, which must not have trimmed the log.
    var tail: Tail? {
        database.dataVersion.map { Tail(version: $0, state: state, end: end, total: total) }
    }
}
#endif
