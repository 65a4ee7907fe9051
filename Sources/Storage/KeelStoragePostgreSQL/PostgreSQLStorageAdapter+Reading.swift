#if PostgreSQL
internal import KeelCore
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        do throws(StorageError) {
            if let result = try await readOnStandby(request) { return result }
            if case .documents(let paths) = request.operation, request.isOneStatement {
                guard paths.count == 1 else { return try await pool.read(request, in: store) }
                let result = try await pointReads.document(at: paths[0])
                if !request.reportsUnreadable, let document = result.unreadable.first {
                    throw document.error
                }
                return result
            }
            try await finishSearches(for: request)
            if let time = request.asOf {
                let result = try await held.read(
                    at: time,
                    holdingFor: request.holdDuration,
                    waiting: { state throws(StorageError) in
                        try await answer(request, at: time, holding: state)
                    }
                )
                if let result { return result }
                if held.hasEnded(time), !store.keepsHistory { throw .snapshotTooOld(time) }
            } else if let duration = request.holdDuration, !store.keepsHistory {
                return try await answer(request, holdDuration: duration)
            }
            var request = request
            if request.holdDuration != nil { request.needsTime = true }
            return try await reading(isQuick: request.isQuick) { [self, request] in
                try answer(request, $0, $1)
            }
        } catch {
            throw error.during("read")
        }
    }

    /// Runs a read in a transaction of its own.
    ///
    /// A quick one, which is done soon however large the store is, does not wait until queries end.
    func reading<Value: Sendable>(
        isQuick: Bool = false,
        _ read: @escaping @Sendable (TableSnapshot, StoreTail) throws -> Value
    ) async throws(StorageError) -> Value {
        try await pool.reading(isQuick: isQuick) { [store] connection in
            try connection.transaction(reading: store, TableSnapshot(connection, store), read)
        }
    }

    /// Answers from the state that the transaction of a connection holds.
    ///
    /// - Throws: `StorageError/Code/snapshotTooOld` if the transaction has ended.
    private func answer(
        _ request: ReadRequest,
        at time: Timestamp,
        holding thread: ConnectionThread
    ) async throws(StorageError) -> ReadResult {
        do throws(StorageError) {
            return try await thread.run { [self] connection in
                // The state is lost with its connection, and with a read that was stopped: a new transaction would read
                // the present.
                guard connection.isInTransaction else { throw StorageError.snapshotTooOld(time) }
                let snapshot = TableSnapshot(connection, store, remembers: false)
                return try answer(request, snapshot, snapshot.tail(), isHeld: true)
            }
        } catch {
            // The next request that holds this time needs a transaction of its own.
            if error.code == .snapshotTooOld { held.drop(at: time) { $0 === thread } }
            throw error
        }
    }

    /// Answers on a connection of its own, whose transaction stays open for a while.
    ///
    /// Only a store without a history holds transactions, because the server cannot remove what they might still read.
    private func answer(
        _ request: ReadRequest,
        holdDuration duration: Duration
    ) async throws(StorageError) -> ReadResult {
        var request = request
        request.needsTime = true
        if held.hasRoom {
            do throws(StorageError) {
                let thread = try StorageError.mapping {
                    try ConnectionThread(
                        "keel.postgresql.held",
                        pool.settings,
                        answerLimit: configuration.answerTimeout
                    )
                }
                let result = try await thread.run { [self, request] connection in
                    let tail = try connection.begin(
                        reading: store,
                        heldFor: HeldStates<ConnectionThread>.longest * 2
                    )
                    let snapshot = TableSnapshot(connection, store, remembers: false)
                    return try answer(request, snapshot, tail)
                }
                if let time = result.time, held.hold(thread, at: time, for: duration) {
                    return result
                }
            } catch {
                // The server allows no further connection, so the state cannot be held.
                guard error.isLackOfConnections else { throw error }
            }
        }
        var result = try await reading(isQuick: request.isQuick) { [self, request] in
            try answer(request, $0, $1)
        }
        result.time = nil
        return result
    }

    /// Answers in the transaction of a snapshot.
    func answer(
        _ request: ReadRequest,
        _ snapshot: TableSnapshot,
        _ tail: StoreTail,
        isHeld: Bool = false
    ) throws -> ReadResult {
        let past = try (isHeld ? nil : request.asOf).map { time in
            try StorePast(
                at: time,
                since: tail.historyStart,
                upTo: max(store.time(tail), tail.time),
                in: snapshot
            )
        }
        var position: ChangeCursor?
        if request.needsPosition || request.reads != nil {
            let point = try past.map { try snapshot.point(upTo: $0.time, tail) } ?? tail.point
            position = store.cursor(point)
        }
        if let reads = request.reads {
            try snapshot.check(reads, at: position, past: past, snapshot.indexes(tail))
        }
        var result = try snapshot.answer(request, past: past) { try snapshot.indexes(tail) }
        if request.needsPosition { result.position = position }
        if request.needsTime {
            // Later times may still get changes.
            result.time = request.asOf.map { min($0, tail.time) } ?? tail.time
        }
        return result
    }
}

extension ReadRequest {
    /// Whether the request looks documents up by their paths, and runs no query.
    var isQuick: Bool {
        guard case .documents = operation else { return false }
        return reads == nil
    }

    /// Whether one statement answers the request, which is consistent without a transaction.
    var isOneStatement: Bool {
        guard case .documents(let paths) = operation,
            paths.count <= TableSnapshot.PageSize.mostAtFirst
        else { return false }
        return !needsPosition && !needsTime && asOf == nil && reads == nil && holdDuration == nil
    }
}

extension ConnectionPool {
    /// Answers a request that needs one statement.
    func read(_ request: ReadRequest, in store: OpenStore) async throws(StorageError) -> ReadResult
    {
        try await reading(isQuick: true) { connection in
            try TableSnapshot(connection, store).answer(request, past: nil) {
                IndexSet(generation: -1, all: [])
            }
        }
    }

    /// Reads documents with one statement.
    ///
    /// - Returns: An answer for each path, in the order of the paths.
    func documents(at paths: [DocumentPath], in store: OpenStore) async -> [PointReads.Answer] {
        var request = ReadRequest(.documents(paths))
        request.reportsUnreadable = true
        do throws(StorageError) {
            let result = try await read(request, in: store)
            guard case .documents(let documents) = result.payload, documents.count == paths.count
            else { throw StorageError(.unknown, "the result lacks documents") }
            return zip(paths, documents).map { path, document in
                let unreadable = result.unreadable.first { $0.path == path }
                return .success(
                    ReadResult(.documents([document]), unreadable: unreadable.map { [$0] } ?? [])
                )
            }
        } catch {
            return paths.map { _ in .failure(error) }
        }
    }
}

extension DatabaseConnection {
    /// Begins a transaction in which all statements see one state, and reads the store's tail in it.
    ///
    /// The server ends a transaction that is idle for longer than a duration, or than the usual limit if it is nil.
    func begin(reading store: OpenStore, heldFor duration: Duration? = nil) throws -> StoreTail {
        try tail(begin(with: store.tailStatement(), heldFor: duration))
    }

    /// Reads the store's tail, and checks it.
    func tail(_ rows: DatabaseRows) throws -> StoreTail {
        let tail = try StoreTail(rows)
        try check(tail)
        return tail
    }

    /// Checks that the catalog has the numbers of the tables to which a tail belongs.
    ///
    /// - Throws: ``DatabaseFailure`` if the tables were created anew. The connection is then closed, and the work runs
    ///   again on another one.
    func check(_ tail: StoreTail) throws(DatabaseFailure) {
        guard catalog != nil else { return }
        // The catalog of a connection to a standby is its own, and is still empty when its first tail comes.
        let first = timeline == nil ? tail.tables : settings.lineage.tables(orFirst: tail.tables)
        let known = tables ?? first
        tables = known
        guard known != tail.tables else { return }
        close()
        throw .lost("the tables of the store were created anew")
    }

    /// Begins a transaction in which all statements see one state, with its first statement.
    func begin(
        with first: DatabaseStatement,
        heldFor duration: Duration? = nil
    ) throws -> DatabaseRows {
        try openIfNeeded()
        var statements = [DatabaseStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]
        if !isDirect { statements.append(DatabaseStatement(Self.settings(areLocal: true))) }
        if let duration {
            let limit = duration.microseconds / 1000
            statements.append(
                DatabaseStatement(
                    "SELECT set_config('idle_in_transaction_session_timeout', '\(limit)', true)"
                )
            )
        }
        statements.append(first)
        return try run(statements)[statements.count - 1]
    }

    /// Runs a read in a transaction of its own.
    func transaction<Value>(
        reading store: OpenStore,
        _ snapshot: TableSnapshot,
        _ read: (TableSnapshot, StoreTail) throws -> Value
    ) throws -> Value {
        try endTransaction { try read(snapshot, begin(reading: store)) }
    }

    /// Runs a read that begins a transaction, and ends the transaction.
    func endTransaction<Value>(after read: () throws -> Value) throws -> Value {
        do {
            let value = try read()
            try end("COMMIT")
            return value
        } catch {
            // A failed read has nothing to lose, but the transaction must not stay open: the next read would fail with
            // it, or see its state.
            if isOpen { try? end("ROLLBACK") }
            throw error
        }
    }

    /// Ends a transaction, even if the task has been canceled.
    func end(_ statement: String) throws {
        let ignored = ignoresCancellation
        ignoresCancellation = true
        defer { ignoresCancellation = ignored }
        try run(DatabaseStatement(statement))
    }
}

extension OpenStore {
    /// Returns the statement for the tail.
    ///
    /// It returns no row if the number belongs to another store, as it may in a database that was created anew, or in
    /// one of another cluster.
    func tailStatement(isLocking: Bool = false) -> DatabaseStatement {
        DatabaseStatement(
            """
            SELECT \(StoreTail.columns) FROM keel.stores
            WHERE store = $1 AND name = $2\(isLocking ? " FOR UPDATE" : "")
            """
        ) {
            $0.add(self.number)
            $0.add(self.name.utf8)
        }
    }
}

extension TableSnapshot {
    func tail() throws -> StoreTail { try StoreTail(connection.run(store.tailStatement())) }

    /// Returns the point of the last change up to a time.
    func point(upTo time: Int64, _ tail: StoreTail) throws -> LogPoint {
        guard time < tail.sequence else { return tail.point }
        // In the compacted part of the log, the time itself identifies the state.
        guard time > tail.compacted else { return try point(at: time) }
        let rows = try run(
            """
            SELECT seq, mark FROM keel.changes WHERE store = $1 AND seq > $2 AND seq <= $3
            ORDER BY seq DESC LIMIT 1
            """
        ) {
            $0.add(tail.compacted)
            $0.add(time)
        }
        guard let row = rows.first else { return try point(at: tail.compacted) }
        return LogPoint(row.integer(0), mark: row.integer(1))
    }
}
#endif
