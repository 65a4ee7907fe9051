#if SQLite
internal import GRDB
internal import KeelCore
public import KeelStorage

extension SQLiteStorageAdapter {
    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await whileBusy { try write(batches) }
    }

    /// Applies all batches in one transaction: one flush to the disk.
    private func write(_ batches: [WriteBatch]) throws -> [Result<CommitReceipt, StorageError>] {
        guard !configuration.isReadOnly else {
            throw StorageError(.readOnly, "the store was opened for reading only")
        }
        var results: [Result<CommitReceipt, StorageError>] = []
        results.reserveCapacity(batches.count)
        var finished: CommitSession?
        try databasePool.writeWithoutTransaction { database in
            try database.inWriteTransaction {
                var session = try CommitSession(
                    database,
                    reader: reader(database, remembers: false),
                    epoch: epoch,
                    now: configuration.now
                )
                for batch in batches { results.append(try session.apply(batch)) }
                try session.finish()
                if trimming.isDue(after: session.changeCount, keeping: configuration.retention) {
                    try trim(database, session.state)
                }
                finished = session
            }
        }
        if let finished {
            // Only now nothing can undo the new numbers.
            for (path, number) in finished.numbered { catalog.remember(path, as: number) }
            catalog.remember(finished.indexes)
            if finished.changeCount > 0 { signal.raise() }
        }
        return results
    }
}
#endif
