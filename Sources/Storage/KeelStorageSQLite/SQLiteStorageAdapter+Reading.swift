#if SQLite
internal import GRDB
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await finishSearches(for: request)
        if request.mayBeShort {
            let result = try await reading { () -> ReadResult? in
                do {
                    return try answer(request, examining: Self.shortExamination)
                } catch is LongRead { return nil }
            }
            if let result { return result }
        }
        return try await readingLong { try answer(request, examining: .max) }
    }

    /// The number of documents that a query examines on the thread of its caller.
    private static var shortExamination: Int { 200 }

    private func answer(_ request: ReadRequest, examining most: Int) throws -> ReadResult {
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
        return try readSnapshot { reader in
            var reader = reader
            reader.maximumExamined = most
            return try answer(request, in: reader)
        }
    }

    private func answer(_ request: ReadRequest, holdDuration duration: Duration) throws
        -> ReadResult
    {
        var request = request
        request.needsTime = true
        if held.hasRoom {
            try connections.checkFile()
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
        var reader = reader
        reader.generation = state.generation
        let past = try (isHeld ? nil : request.asOf).map { time in
            try StorePast(
                at: time,
                since: StoredHistory(reader.database)?.start,
                upTo: max(configuration.now(), state.time),
                in: reader
            )
        }
        var position: ChangeCursor?
        if request.needsPosition || request.reads != nil {
            let sequence =
                try past.map { try reader.sequence(upTo: $0.time, state) } ?? state.sequence
            let point = try reader.point(at: sequence)
            position = ChangePosition(epoch: epoch, .log(point)).cursor
        }
        if let reads = request.reads {
            let indexes = try reader.indexes(state.generation)
            try reader.check(reads, at: position, past: past, indexes)
        }
        var result = try reader.answer(request, past: past) {
            try reader.indexes(state.generation)
        }
        if request.needsPosition { result.position = position }
        if request.needsTime {
            // Later times may still get changes.
            result.time = request.asOf.map { min($0, state.time) } ?? state.time
        }
        return result
    }
}

extension ReadRequest {
    /// Whether reading usually takes less than the change to another thread and back.
    fileprivate var mayBeShort: Bool {
        guard asOf == nil, holdDuration == nil, reads == nil else { return false }
        switch operation {
        case .documents(let paths): return paths.count <= 100
        case .query(let query):
            guard let limit = query.limit?.count, query.search == nil else { return false }
            return limit <= 100 && query.offset <= 100
        case .aggregate, .collections: return false
        }
    }
}
#endif
