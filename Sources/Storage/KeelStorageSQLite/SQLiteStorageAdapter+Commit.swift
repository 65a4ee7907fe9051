#if SQLite
internal import GRDB
internal import KeelCore
public import KeelStorageAdapting
internal import Synchronization

extension SQLiteStorageAdapter {
    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await line.commit(batches) { all throws(StorageError) in
            let results = try await writing(all)
            if logPace.isDue() { await emptyLog() }
            return results
        }
    }

    private static let longestEmptying = Duration.seconds(1)

    private func emptyLog() async {
        let isEmpty: Void? = try? await threads.run { () async throws(StorageError) in
            try await whileBusy(upTo: Self.longestEmptying) {
                try databasePool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            }
        }
        // A canceled attempt says nothing about the readers.
        guard isEmpty != nil || !Task.isCancelled else { return }
        logPace.tried(isEmpty: isEmpty != nil)
    }

    package var waitingCommitCount: Int { line.count }

    /// Writes batches when the file is free, on another thread if that may take long: many writes, a flush to the disk,
    /// or trimming.
    private func writing(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        let count = batches.reduce(0) { $0 + $1.writes.count }
        let isLong =
            count > 50 || configuration.durability == .power
            || trimming.willBeDue(after: count, keeping: configuration.retention)
        guard isLong else { return try await whileBusy { try write(batches) } }
        return try await threads.run { () async throws(StorageError) in
            try await whileBusy { try write(batches) }
        }
    }

    private func write(_ batches: [WriteBatch]) throws -> [Result<CommitReceipt, StorageError>] {
        guard !configuration.isReadOnly else {
            throw StorageError(.readOnly, "the store was opened read-only")
        }
        var results: [Result<CommitReceipt, StorageError>] = []
        results.reserveCapacity(batches.count)
        var finished: CommitSession?
        try databasePool.writeWithoutTransaction { database in
            // Whether trimming has changed the state after the session.
            var changesState = false
            // A commit that fails leaves no state to the next one.
            let tail = tail.withLock { tail in
                defer { tail = nil }
                return tail
            }
            try database.inWriteTransaction {
                try database.checkIsInPlace()
                var session = try CommitSession(
                    database,
                    reader: reader(database, remembers: false),
                    epoch: epoch,
                    after: tail,
                    beginsPeriod: trimming.beginsPeriod,
                    now: configuration.now
                )
                for batch in batches { results.append(try session.apply(batch)) }
                try session.finish()
                if trimming.isDue(after: session.changeCount, keeping: configuration.retention) {
                    changesState = true
                    let isDone = try trim(database, session.state)
                    if !isDone { trimming.goOn() }
                }
                if let age = session.indexes.historyAge, session.changeCount > 0,
                    forgetting.isDue(at: configuration.now(), keeping: age)
                {
                    changesState = true
                    let isDone = try forget(database, session.state)
                    if !isDone { forgetting.goOn() }
                }
                finished = session
            }
            if !changesState { self.tail.withLock { $0 = finished?.tail } }
        }
        if let finished {
            // Only now that the new numbers cannot be rolled back.
            let generation = finished.state.generation
            for (path, number) in finished.numbered {
                catalog.remember(path, as: number, in: generation)
            }
            catalog.remember(finished.indexes)
            if finished.changeCount > 0 {
                trimming.finished(finished.changeCount)
                watch.saw(finished.state.sequence)
                signal.raise()
            }
        }
        return results
    }
}
#endif
