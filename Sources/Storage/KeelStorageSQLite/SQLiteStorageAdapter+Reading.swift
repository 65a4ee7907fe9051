#if SQLite
internal import GRDB
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await finishSearches(for: request)
        return try await reading { try answer(request) }
    }

    private func answer(_ request: ReadRequest) throws -> ReadResult {
        // One document is one statement, which is consistent without a transaction.
        if case .documents(let paths) = request.operation, paths.count < 2,
            !request.needsPosition, !request.needsTime, request.asOf == nil,
            !request.reportsUnreadable, request.reads == nil, request.holdDuration == nil
        {
            return try readOnce { reader in
                ReadResult(.documents(try paths.map { try reader.document(at: $0) }))
            }
        }
        if let time = request.asOf {
            let result = try held.read(at: time, holdingFor: request.holdDuration) { snapshot in
                try snapshot.unsafeRead { database in
                    try answer(request, in: reader(database, remembers: false), isHeld: true)
                }
            }
            if let result { return result }
            if held.hasEnded(time), !keepsHistory { throw StorageError.snapshotTooOld(time) }
        } else if let duration = request.holdDuration {
            return try answer(request, holdDuration: duration)
        }
        return try readSnapshot { try answer(request, in: $0) }
    }

    /// Answers on a connection whose read transaction stays open for a while.
    private func answer(_ request: ReadRequest, holdDuration duration: Duration) throws
        -> ReadResult
    {
        var request = request
        request.needsTime = true
        if held.hasRoom {
            let snapshot = try databasePool.makeSnapshot()
            let result = try snapshot.unsafeRead { database in
                try answer(request, in: reader(database, remembers: false))
            }
            if let time = result.time, held.hold(snapshot, at: time, for: duration) {
                return result
            }
        }
        var result = try readSnapshot { try answer(request, in: $0) }
        if !keepsHistory { result.time = nil }
        return result
    }

    /// Answers in the read transaction of a connection; a held connection answers from its own state.
    private func answer(
        _ request: ReadRequest,
        in reader: StoreReader,
        isHeld: Bool = false
    ) throws -> ReadResult {
        let state = try StoreState(reader.database)
        let past = try (isHeld ? nil : request.asOf).map { time in
            try StorePast(at: time, now: configuration.now(), state, reader)
        }
        var position: ChangeCursor?
        if request.needsPosition || request.reads != nil {
            let sequence = try past?.sequence() ?? state.sequence
            let point = try LogPoint.at(sequence, in: reader.database)
            position = ChangePosition(epoch: epoch, .log(point)).cursor
        }
        if let reads = request.reads {
            let indexes = try reader.indexes(state.generation)
            try reader.check(reads, at: position, indexes, past: past)
        }
        var result = try answer(request, state, past, reader)
        if request.needsPosition { result.position = position }
        if request.needsTime {
            // The present is settled only up to the last change.
            result.time = request.asOf.map { min($0, state.time) } ?? state.time
        }
        return result
    }

    private func answer(
        _ request: ReadRequest,
        _ state: StoreState,
        _ past: StorePast?,
        _ reader: StoreReader
    ) throws -> ReadResult {
        switch request.operation {
        case .documents(let paths):
            var documents: [Document?] = []
            var unreadable: [UnreadableDocument] = []
            var size = AnswerSize(most: request.maximumBytes)
            for path in paths where !size.isFull {
                do {
                    let document =
                        if let past { try past.document(at: path) } else {
                            try reader.document(at: path)
                        }
                    documents.append(document)
                    if let document { size.add(document) }
                } catch let error as StorageError where request.reportsUnreadable {
                    unreadable.append(UnreadableDocument(path, error))
                    documents.append(nil)
                }
            }
            let isPartial = documents.count < paths.count
            return ReadResult(.documents(documents), unreadable: unreadable, isPartial: isPartial)
        case .collections(let parent):
            return ReadResult(
                .names(try past?.names(under: parent) ?? reader.names(under: parent))
            )
        case .query(let query):
            var execution = try QueryExecution(
                query,
                reader: reader,
                indexes: try reader.indexes(state.generation),
                past: past
            )
            execution.reportsUnreadable = request.reportsUnreadable
            execution.maximumBytes = request.maximumBytes
            let (documents, plan) = try execution.documents(isStrict: request.isStrict)
            return ReadResult(
                .found(documents),
                plan: plan,
                unreadable: Array(execution.unreadable.values),
                isPartial: execution.isPartial
            )
        case .aggregate(let query, let aggregations):
            // Aggregations may need fields that the projection leaves out.
            var execution = try QueryExecution(
                query.ordered(for: aggregations).with { $0.projection = nil },
                reader: reader,
                indexes: try reader.indexes(state.generation),
                past: past
            )
            let (values, plan) = try execution.values(of: aggregations, isStrict: request.isStrict)
            return ReadResult(.values(values), plan: plan)
        }
    }
}
#endif
