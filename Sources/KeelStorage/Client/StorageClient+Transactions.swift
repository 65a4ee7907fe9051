internal import KeelCore
public import KeelDocuments
package import KeelStorageAdapting

extension StorageClient {
    /// Commits several writes together: all take effect, or none.
    ///
    /// ```swift
    /// try await storage.commit { batch in
    ///     try batch.set("accounts/1", ["balance": 0])
    ///     batch.delete("accounts/2")
    /// }
    /// ```
    ///
    /// - Throws: `StorageError`, or what `body` throws; nothing has then been written.
    @discardableResult
    @concurrent
    public func commit(
        _ body: (inout WriteBatchBuilder) throws -> Void
    ) async throws -> CommitReceipt {
        var builder = WriteBatchBuilder()
        try body(&builder)
        return try await commit(builder, for: "commit")
    }

    /// Commits writes together: all take effect, or none.
    @discardableResult
    @concurrent
    public func commit(_ writes: [DocumentWrite]) async throws(StorageError) -> CommitReceipt {
        try await commit(WriteBatch(writes), for: "commit")
    }

    /// Reads and writes as if nothing else happened in between.
    ///
    /// The body reads through the transaction and collects writes, which take effect together when
    /// it returns and only if nothing that it read has changed meanwhile. After a conflict the body
    /// runs again, so it should have no effects of its own. Reads see the store as it was before
    /// the transaction's writes, and must come before them.
    ///
    /// ```swift
    /// try await storage.transaction { transaction in
    ///     let counter = try await transaction.getDocument("counters/visits")
    ///     let count = counter["count"]?.integerValue ?? 0
    ///     try transaction.update("counters/visits", [.set("count", to: count + 1)])
    /// }
    /// ```
    ///
    /// - Returns: The body's result in the run that was committed.
    /// - Throws: `StorageError/Code/conflict` if every attempt met a conflict,
    ///   `StorageError/Code/unsupported` on an adapter without transactions, or what the body
    ///   throws; nothing has then been written.
    @concurrent
    public func transaction<Value: Sendable>(
        _ body: (StorageTransaction) async throws -> Value
    ) async throws -> Value {
        try require(.transactions, for: "transaction")
        // What the body reads, and the commit, find the limit there.
        guard let context else { return try await committed(body) }
        return try await context.bind { try await committed(body) }
    }

    /// Runs a transaction's body until it can be committed.
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

    /// Commits what a builder has collected, then calls what waits for that.
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

    /// Commits writes to the part of the store that is Keel's own.
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
