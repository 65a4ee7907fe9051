#if PostgreSQL
internal import KeelCore
public import KeelStorageAdapting
internal import Synchronization

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

    /// Runs a read in a transaction of its own, as ``ConnectionPool/reading(isQuick:_:)``.
    func reading<Value: Sendable>(
        isQuick: Bool = false,
        _ read: @escaping @Sendable (TableSnapshot, ReadTransaction) throws -> Value
    ) async throws(StorageError) -> Value {
        try await pool.reading(isQuick: isQuick) { [store] connection in
            let snapshot = TableSnapshot(connection, store)
            return try connection.transaction(reading: snapshot) { try read(snapshot, $0) }
        }
    }

    /// Answers from the transaction that a held connection has open.
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
                let transaction = ReadTransaction(of: snapshot, tail: try snapshot.tail())
                return try answer(request, snapshot, transaction, isHeld: true)
            }
        } catch {
            // The next request that holds this time needs a transaction of its own.
            if error.code == .snapshotTooOld { held.drop(at: time) { $0 === thread } }
            throw error
        }
    }

    /// Answers on a connection of its own, whose transaction stays open for a while; without room or a connection,
    /// holds nothing and returns no time.
    ///
    /// Only a store without a history holds transactions, because the server cannot clean up behind them.
    private func answer(
        _ request: ReadRequest,
        holdDuration duration: Duration
    ) async throws(StorageError) -> ReadResult {
        var request = request
        request.needsTime = true
        if held.hasRoom,
            let thread = try? ConnectionThread(
                "keel.postgresql.held",
                pool.settings,
                answerLimit: configuration.answerTimeout
            )
        {
            do throws(StorageError) {
                let result = try await thread.run { [self, request] connection in
                    let tail = try connection.begin(
                        reading: store,
                        heldFor: HeldStates<ConnectionThread>.longest * 2
                    )
                    let snapshot = TableSnapshot(connection, store, remembers: false)
                    return try answer(request, snapshot, ReadTransaction(of: snapshot, tail: tail))
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

    func answer(
        _ request: ReadRequest,
        _ snapshot: TableSnapshot,
        _ transaction: ReadTransaction,
        isHeld: Bool = false
    ) throws -> ReadResult {
        var past: StorePast?
        if !isHeld, let time = request.asOf {
            let tail = try transaction.tail()
            past = try StorePast(
                at: time,
                since: tail.historyStart,
                upTo: max(store.time(tail), tail.time),
                in: snapshot
            )
        }
        if let reads = request.reads {
            try snapshot.check(
                reads,
                at: position(in: snapshot, transaction, past),
                past: past,
                transaction.indexes()
            )
        }
        var result = try snapshot.answer(request, past: past) { try transaction.indexes() }
        if request.needsPosition {
            result.position = try position(in: snapshot, transaction, past)
        }
        if request.needsTime {
            let present = try transaction.tail().time
            // Later times may still get changes.
            result.time = request.asOf.map { min($0, present) } ?? present
        }
        return result
    }

    /// Returns the position of a snapshot, or of the past that is read in it.
    private func position(
        in snapshot: TableSnapshot,
        _ transaction: ReadTransaction,
        _ past: StorePast?
    ) throws -> ChangeCursor {
        let tail = try transaction.tail()
        return store.cursor(try past.map { try snapshot.point(upTo: $0.time, tail) } ?? tail.point)
    }
}

extension ReadRequest {
    /// Whether the request only looks documents up by their paths.
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
    func read(_ request: ReadRequest, in store: OpenStore) async throws(StorageError) -> ReadResult
    {
        try await reading(isQuick: true) { try $0.read(request, in: store) }
    }

    /// Reads documents with one statement for each group of paths, without leaving the connection's thread in between.
    ///
    /// `next` takes the answers of a group, in the order of its paths, and returns the next group: none at the end.
    func documents(
        at paths: [DocumentPath],
        in store: OpenStore,
        then next: @escaping PointReads.Continue
    ) async {
        // The work runs again, on another connection, from the group at which it was interrupted.
        let group = Mutex(paths)
        while !group.withLock({ $0.isEmpty }) {
            do throws(StorageError) {
                try await reading(isQuick: true) { [self] connection in
                    var isFirst = true
                    while true {
                        let paths = group.withLock { $0 }
                        // A group that begins after the end gets its error from the pool.
                        guard !paths.isEmpty, !isClosed else { return }
                        let answers: [PointReads.Answer]
                        do {
                            answers = try connection.documents(at: paths, in: store)
                        } catch let failure as DatabaseFailure
                            where failure.isConnectionLost && !isFirst
                        {
                            // Each group may have a new connection, as if it were alone.
                            return
                        }
                        group.withLock { $0 = next(answers) }
                        isFirst = false
                    }
                }
            } catch {
                group.withLock { $0 = next($0.map { _ in .failure(error) }) }
            }
        }
    }
}

extension DatabaseConnection {
    fileprivate func read(_ request: ReadRequest, in store: OpenStore) throws -> ReadResult {
        try TableSnapshot(self, store).answer(request, past: nil) {
            IndexSet(generation: -1, all: [])
        }
    }

    fileprivate func documents(
        at paths: [DocumentPath],
        in store: OpenStore
    ) throws -> [PointReads.Answer] {
        var request = ReadRequest(.documents(paths))
        request.reportsUnreadable = true
        let result = try read(request, in: store)
        guard case .documents(let documents) = result.payload, documents.count == paths.count
        else { throw StorageError(.unknown, "the result lacks documents") }
        return zip(paths, documents).map { path, document in
            let unreadable = result.unreadable.first { $0.path == path }
            return .success(
                ReadResult(.documents([document]), unreadable: unreadable.map { [$0] } ?? [])
            )
        }
    }
}

extension OpenStore {
    /// Returns the statement for the tail.
    ///
    /// It returns no row if the number belongs to another store, as it may in a database that was created anew or in
    /// another cluster.
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
