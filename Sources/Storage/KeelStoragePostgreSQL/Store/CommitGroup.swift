#if PostgreSQL
internal import KeelStorageAdapting

/// A group of commits: one transaction, usually in two round trips to the server.
///
/// The first locks the store's tail and reads what the batches need; the second writes everything and commits. In
/// between, each batch is computed in memory over the effects of those before it. A rejected batch has written nothing;
/// an error of the database rolls back the whole group.
///
/// The tail stays locked until the commit is visible, so commits of the store never conflict in the database, and no
/// statement waits for another lock.
struct CommitGroup {
    private struct Place {
        var stored: CommitDraft.Stored
        var sealed: [UInt8]?
        /// The document's number, which it keeps when the group removes it and writes it again.
        var number: Int64?
    }

    private let connection: DatabaseConnection
    private let store: OpenStore
    private let group: Int64
    private(set) var tail: StoreTail
    let indexes: IndexSet
    private let timeline: Int64
    /// Distinguishes the group's changes from others with the same sequences (`LogPoint`).
    private let mark: Int64
    private var places: [DocumentPath: Place]
    private var receipts: [[UInt8]: CommitReceipt]
    private var clients: [[UInt8]: (number: Int64, mutation: Int64)]
    /// For the catalog after the commit.
    private(set) var numbered: [CollectionPath: Int64] = [:]
    private(set) var changeCount = 0
    private var writes: GroupWrites
    private var hasWrites = false
    /// Whether the store has what a successful batch writes, by this group or by an earlier one.
    private var hasSuccesses = false
    private var coverage: [Int64: [StoredIndex]] = [:]

    /// Begins the transaction, and reads what the batches need.
    ///
    /// The group starts a period of marks (`LogPoint`) if `beginsPeriod` is true, and on another server or in other
    /// tables than the group before: a cursor to a change that these lack must not appear to be within a period.
    init(
        _ batches: [WriteBatch],
        number: Int64,
        beginsPeriod: Bool,
        of store: OpenStore,
        on connection: DatabaseConnection
    ) throws {
        self.connection = connection
        self.store = store
        group = number
        writes = GroupWrites(store: store.number)
        let reading = GroupReading(batches, of: store, on: connection)
        let rows = try connection.run(try Self.beginning(on: connection) + reading.statements)
        let first = rows.count - reading.statements.count
        tail = try connection.tail(rows[first])
        try tail.checkFormat()
        timeline = tail.serverTimeline ?? tail.timeline
        let snapshot = TableSnapshot(connection, store, isCancellable: false, remembers: false)
        indexes = try snapshot.indexes(tail)
        places = Dictionary(minimumCapacity: rows[first + 1].count)
        for (path, stored) in try reading.documents(rows[first + 1]) {
            places[path] = Place(
                stored: stored.stored,
                sealed: stored.body,
                number: stored.stored.row
            )
        }
        receipts = try reading.receipts(rows.dropFirst(first + 2))
        clients = reading.clients(rows.dropFirst(first + 2))
        let isElsewhere =
            timeline != tail.timeline || tail.tables != connection.writtenTables ?? tail.tables
        let period = beginsPeriod || isElsewhere ? 0 : LogPoint.period(of: tail.mark)
        mark = LogPoint.newMark(in: period == 0 ? LogPoint.newPeriod() : period)
    }

    static let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

    static func beginning(on connection: DatabaseConnection) throws -> [DatabaseStatement] {
        try connection.openIfNeeded()
        let begin = DatabaseStatement(begin)
        guard !connection.isDirect else { return [begin] }
        return [begin, DatabaseStatement(DatabaseConnection.settings(areLocal: true))]
    }

    // MARK: Batches

    /// Applies a batch to the group, completely or not at all.
    ///
    /// - Throws: An error that rolls back the whole group; the failure of a batch is a result.
    mutating func apply(_ batch: WriteBatch) throws -> Result<CommitReceipt, StorageError> {
        let draft: CommitDraft
        do {
            if let id = batch.id, let receipt = receipts[Array(id.utf8)] {
                hasSuccesses = true
                return .success(receipt)
            }
            draft = try plan(batch)
        } catch let error as StorageError {
            return .failure(error)
        }
        let origin = batch.origin.map { note($0) }
        for change in draft.changes where change.sequence != nil {
            try store(change, of: draft, from: origin)
        }
        // A batch without changes has the time of the state that it found.
        let time = draft.changeCount > 0 ? draft.commit.storeTime : tail.time
        if draft.changeCount > 0 {
            tail.sequence = time.microseconds + Int64(draft.changeCount) - 1
            tail.mark = mark
            tail.timeline = timeline
        }
        var receipt = CommitReceipt(
            batchID: batch.id,
            commitTime: time,
            outcomes: draft.outcomes(of: batch.writes),
            position: store.cursor(tail.point)
        )
        receipt.isWithoutChanges = draft.changeCount == 0
        try keep(receipt)
        if !batch.writes.isEmpty { hasSuccesses = true }
        return .success(receipt)
    }

    private mutating func plan(_ batch: WriteBatch) throws -> CommitDraft {
        try batch.checkNames()
        if let reads = batch.reads { try check(reads) }
        let commit = StorageEvaluator.Commit(after: tail.time, clock: store.time(tail))
        var draft = CommitDraft(
            at: commit,
            from: commit.storeTime.microseconds,
            floor: tail.floor
        )
        for write in batch.writes {
            try draft.add(write) { path in places[path]?.stored ?? CommitDraft.Stored() }
        }
        return draft
    }

    private mutating func check(_ reads: TransactionReads) throws {
        let position = store.cursor(tail.point)
        if let known = reads.position, known == position { return }
        try StorageEvaluator.check(
            TransactionReads(documents: reads.documents),
            current: { path throws(StorageError) in
                let stored = places[path]?.stored
                if let failure = stored?.failure { throw failure }
                return stored?.document
            },
            found: { _ throws(StorageError) in [] }
        )
        guard !reads.queries.isEmpty else { return }
        // Queries read the tables, which must have the effects of the batches before.
        try flush()
        let snapshot = TableSnapshot(connection, store, isCancellable: false, remembers: false)
        let queries = TransactionReads(queries: reads.queries)
        try snapshot.check(queries, at: nil, indexes)
    }

    private mutating func note(_ origin: ChangeOrigin) -> (client: Int64, mutation: Int64) {
        let name = Array(origin.client.utf8)
        let known = clients[name]
        if known == nil { tail.clients += 1 }
        let number = known?.number ?? tail.clients
        let last = max(known?.mutation ?? origin.mutation, origin.mutation)
        clients[name] = (number, last)
        writes.set(name, number, mutation: last)
        hasWrites = true
        return (number, origin.mutation)
    }

    // MARK: Documents

    private mutating func store(
        _ change: CommitDraft.Change,
        of draft: CommitDraft,
        from origin: (client: Int64, mutation: Int64)?
    ) throws {
        guard let sequence = change.sequence else { return }
        let collection = try number(change.path.collection, change.stored.collection)
        var place = places[change.path] ?? Place(stored: change.stored)
        let before = change.stored.document
        if tail.historyAge != nil {
            let former = before.flatMap { document in place.sealed.map { (document, $0) } }
            writes.keep(
                GroupWrites.Image(
                    time: draft.commit.storeTime.microseconds,
                    collection: collection,
                    id: change.path.id,
                    row: place.number,
                    former: former
                )
            )
        }
        place.stored = CommitDraft.Stored(collection: collection, document: change.document)
        if let document = change.document {
            let body = try store.sealing.seal(document.body, of: document.path)
            if place.number == nil { tail.documents += 1 }
            let row = place.number ?? tail.documents
            writes.set(document, body, as: row, in: collection)
            (place.stored.row, place.number, place.sealed) = (row, row, body)
        } else {
            if let row = place.number { writes.remove(row, change.path.id, in: collection) }
            place.sealed = nil
            if change.revision.number > sequence {
                tail.floor = max(tail.floor, change.revision.number)
            }
        }
        let time = change.document == nil ? draft.time(of: change) : nil
        let isOther = time != nil && time != draft.commit.storeTime
        if let time {
            place.stored.removalTime = isOther ? time : Timestamp(microseconds: sequence)
        }
        if let row = place.number { try index(change, as: row, in: collection) }
        tail.total += LogTrimming.size(
            idLength: Int64(change.path.id.utf8.count),
            isRemoval: change.document == nil
        )
        writes.log(
            change.path,
            revision: change.revision.number,
            isRemoval: change.document == nil,
            at: sequence,
            in: collection,
            mark: mark,
            total: tail.total,
            time: isOther ? time?.microseconds : nil,
            from: origin
        )
        places[change.path] = place
        changeCount += 1
        hasWrites = true
    }

    private mutating func index(
        _ change: CommitDraft.Change,
        as row: Int64,
        in collection: Int64
    ) throws {
        let indexes = covering(collection, change.path.collection)
        guard !indexes.isEmpty else { return }
        let before = change.stored.document?.body
        let after = change.document?.body
        let isReadable = change.stored.failure == nil
        let isSealed = store.sealing.sealing != nil
        // A sealed body that can be opened is unchanged since it was written.
        lazy var isKnown = isReadable && (isSealed || before?.isSound ?? true)
        let writer = EntryWriter(store.sealing, change.path, collection, row)
        for index in indexes where !isReadable || index.isAffected(from: before, to: after) {
            if !isKnown {
                // The old keys are unknown, so all entries of the document are removed; pending ones may be its own.
                try flush()
                try connection.run(writer.removal(from: index, of: store.number))
            }
            try writer.replace(isKnown ? before : nil, by: after, in: index, &writes)
        }
        if writes.entries.isFull { try flush() }
    }

    // MARK: Collections, indexes and receipts

    private mutating func number(_ path: CollectionPath, _ known: Int64?) throws -> Int64 {
        if let known = known ?? numbered[path] { return known }
        let snapshot = TableSnapshot(connection, store, isCancellable: false, remembers: false)
        if let known = try snapshot.number(of: path) { return known }
        tail.collections += 1
        numbered[path] = tail.collections
        writes.add(path, as: tail.collections)
        hasWrites = true
        return tail.collections
    }

    private mutating func covering(_ number: Int64, _ path: CollectionPath) -> [StoredIndex] {
        if let known = coverage[number] { return known }
        let found = indexes.covering(path.name)
        coverage[number] = found
        return found
    }

    private mutating func keep(_ receipt: CommitReceipt) throws {
        guard let id = receipt.batchID else { return }
        let bytes = StoredReceipt.encoded(receipt, sequence: tail.sequence)
        // The state that a batch without changes found may be older than receipts are kept.
        let time = max(receipt.commitTime, store.time(tail))
        writes.keep(
            GroupWrites.Receipt(
                id: id,
                time: time.microseconds,
                mark: tail.mark,
                bytes: try store.sealing.seal(bytes, as: "receipt/\(id)")
            )
        )
        receipts[Array(id.utf8)] = receipt
        hasWrites = true
    }

    // MARK: The end

    /// Writes the changes so far, without committing.
    private mutating func flush() throws {
        let statements = writes.statements()
        if !statements.isEmpty { try connection.run(statements) }
    }

    /// Removes some rows that are older than the retention; returns whether the group need not remove more.
    mutating func trim(to retention: LogRetention) throws -> Bool {
        guard hasWrites else { return true }
        try flush()
        let snapshot = TableSnapshot(connection, store, isCancellable: false, remembers: false)
        return try StoreTrimming(retention, snapshot, tail).step()
    }

    /// Writes the rest and commits.
    ///
    /// - Throws: An error. Its effect is unknown if the server does not answer in time, no standby confirms the commit,
    ///   or the outcome cannot be found out after a lost connection.
    mutating func commit() throws {
        guard hasWrites || hasSuccesses else {
            try connection.run(DatabaseStatement("ROLLBACK"))
            return
        }
        var statements: [DatabaseStatement] = []
        if hasWrites {
            statements = writes.statements()
            statements.append(GroupOutcome.record(of: group, at: tail, in: store))
            statements.append(tail.update(of: store.number))
        }
        if changeCount > 0 { statements.append(ChangeWatch.announcement(of: store.number)) }
        // Without writes too: the commit that a batch repeats may be unconfirmed. A standby that confirms the lock of
        // the tail, which comes later in the server's log, has that commit.
        statements.append(DatabaseStatement("COMMIT"))
        var isUnconfirmed = false
        do {
            try connection.run(statements, .committing)
            isUnconfirmed = connection.isUnconfirmed
        } catch WaitingEnd.timeout {
            throw StorageError(
                .timeout,
                "the PostgreSQL server did not confirm a commit in time; it may have taken effect",
                effect: .unknown
            )
        } catch let failure as DatabaseFailure where failure.isConnectionLost {
            // After a warning, the group is committed, and waiting for a standby has ended.
            isUnconfirmed = connection.isUnconfirmed
            if !isUnconfirmed {
                // Nothing can take effect twice.
                guard hasWrites else { throw failure }
                let outcome = GroupOutcome(group, of: store, on: connection)
                isUnconfirmed = try outcome.find(after: failure)
            }
        }
        guard !isUnconfirmed else { throw StorageError.unconfirmed }
    }
}
#endif
