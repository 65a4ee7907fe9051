internal import KeelCore
public import KeelDocuments
package import KeelStorageAdapting

extension StorageClient {
    /// Commits several writes atomically.
    ///
    /// ```swift
    /// try await storage.commit { batch in
    ///     try batch.set("accounts/1", ["balance": 0])
    ///     batch.delete("accounts/2")
    /// }
    /// ```
    ///
    /// - Throws: The error of `body`, before anything is written; `StorageError/Code/tooLarge` for more than 500
    ///   writes; the error of a failed condition. The `StorageError/effect` says whether the writes may have been
    ///   applied.
    @discardableResult
    @concurrent
    public func commit(
        _ body: (inout WriteBatchBuilder) throws -> Void
    ) async throws -> CommitReceipt {
        var builder = WriteBatchBuilder()
        try body(&builder)
        return try await commit(builder, for: "commit")
    }

    /// Commits up to 500 writes atomically.
    ///
    /// - Throws: `StorageError/Code/tooLarge` for more than 500 writes, or the error of a failed condition. The
    ///   `StorageError/effect` says whether the writes may have been applied.
    @discardableResult
    @concurrent
    public func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> CommitReceipt {
        try await commit(WriteBatch(writes), for: "commit")
    }

    /// Reads and writes in isolation from other writers.
    ///
    /// The body reads through the transaction, then collects writes. After it returns, the writes are committed
    /// together, provided that nothing the body read has changed. After a conflict, the body runs again, so it should
    /// have no other side effects. If another user signs in meanwhile, a `FirestoreStorageAdapter` commits nothing.
    ///
    /// ```swift
    /// try await storage.transaction { transaction in
    ///     let counter = try await transaction.getDocument("counters/visits")
    ///     let count = counter["count"]?.integerValue ?? 0
    ///     try transaction.update("counters/visits", [.set("count", to: count + 1)])
    /// }
    /// ```
    ///
    /// - Returns: The result of the body's committed run.
    /// - Throws: `StorageError/Code/conflict` if every attempt failed with a conflict, `StorageError/Code/unsupported`
    ///   if the adapter has no transactions, and the error of the body: nothing has been written. Another error is that
    ///   of the commit, whose `StorageError/effect` says whether the writes may have been applied.
    @concurrent
    public func transaction<Value: Sendable>(
        _ body: (StorageTransaction) async throws -> Value
    ) async throws -> Value {
        try require(.transactions, for: "transaction")
        // Bound, so that the body's reads and the commit share the time limit and the user.
        let context = (context ?? .current).repeated()
        return try await context.bind { try await committed(body) }
    }

    private func committed<Value: Sendable>(
        _ body: (StorageTransaction) async throws -> Value
    ) async throws -> Value {
        try await withRetry(
            configuration.transactions,
            clock: configuration.clock,
            shouldRetry: Self.isConflict
        ) { _ in
            let transaction = StorageTransaction(self)
            let value = try await body(transaction)
            let (batch, reads) = transaction.finish()
            let hasWrites = !batch.writes.isEmpty || !batch.ownWrites.isEmpty
            guard hasWrites || reads != TransactionReads() else { return value }
            _ = try await commit(batch, reads: reads, for: "transaction")
            return value
        }
    }

    /// Commits a builder's writes, then runs its follow-ups.
    @concurrent
    package func commit(
        _ builder: WriteBatchBuilder,
        reads: TransactionReads? = nil,
        for operation: String
    ) async throws(StorageError) -> CommitReceipt {
        let receipt = try await commit(
            WriteBatch(builder.writes, reads: reads),
            own: builder.ownWrites,
            for: operation
        )
        for followUp in builder.followUps { followUp() }
        return receipt
    }

    /// Commits writes to reserved paths.
    package func commitOwn(
        _ writes: [DocumentWrite],
        id: String? = nil,
        for operation: String
    ) async throws(StorageError) -> CommitReceipt {
        try await commit(WriteBatch(id: id, []), own: writes, for: operation)
    }

    private static func isConflict(_ error: any Error) -> Bool {
        (error as? StorageError)?.code == .conflict
    }
}
