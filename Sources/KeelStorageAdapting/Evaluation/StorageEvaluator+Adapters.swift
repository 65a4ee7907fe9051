public import KeelDocuments

/// What an adapter over a backend that knows nothing of Keel needs to write.
extension StorageEvaluator {
    /// The effects of a batch on the store, worked out and not yet done.
    public struct BatchOutcome: Sendable {
        /// The documents to store, each once and in its last state, in the order of their paths.
        public var stored: [Document]
        /// The documents to remove; some may not be there.
        public var removed: [DocumentPath]
        /// The receipt for the batch, still without a position.
        public var receipt: CommitReceipt
    }

    /// Works out what a batch does, whole or not at all.
    ///
    /// - Parameters:
    ///   - batch: The batch, whose transaction reads are not looked at: see
    ///     ``check(_:current:found:)``.
    ///   - documents: The present states of the documents that the batch writes to.
    ///   - commit: The time, and the revision that the first write gets; the next ones get those
    ///     that follow.
    /// - Returns: The effects, which take place in one step, and the receipt for them.
    /// - Throws: The code that a write's condition names, or `StorageError/Code/tooLarge`; the
    ///   batch has then no effect at all.
    public static func apply(
        _ batch: WriteBatch,
        to documents: some Sequence<Document>,
        at commit: Commit
    ) throws(StorageError) -> BatchOutcome {
        var current: [DocumentPath: Document] = [:]
        for document in documents { current[document.path] = document }
        let before = current.mapValues(\.updateTime)
        var changed: Set<DocumentPath> = []
        var outcomes: [CommitReceipt.WriteOutcome] = []
        for (position, write) in batch.writes.enumerated() {
            var turn = commit
            turn.revision += Int64(position)
            // What the document was before the batch, however many writes there are to it.
            turn.documentTime = commit.documentTime(after: before[write.path])
            let (effect, outcome) = try apply(write, to: current[write.path], at: turn)
            outcomes.append(outcome)
            switch effect {
            case .none: continue
            case .store(let document): current[write.path] = document
            case .remove: current[write.path] = nil
            }
            changed.insert(write.path)
        }
        // A document written twice in one batch ends at the revision of the last write.
        for (position, write) in batch.writes.enumerated() {
            let isRemoved = changed.contains(write.path) && current[write.path] == nil
            outcomes[position].settle(
                current[write.path],
                removed: isRemoved ? commit.documentTime(after: before[write.path]) : nil
            )
        }
        let paths = changed.sorted()
        return BatchOutcome(
            stored: paths.compactMap { current[$0] },
            removed: paths.filter { current[$0] == nil },
            receipt: CommitReceipt(
                batchID: batch.id,
                commitTime: commit.storeTime,
                outcomes: outcomes
            )
        )
    }

    /// Returns a query's result among documents, in its order.
    ///
    /// Filter, order, cursors, offset, limit and projection all count; a text search does not, and
    /// needs `StorageCapabilities/textSearch`. Documents of other collections are left out, so
    /// that everything a backend finds by prefix can be handed over.
    ///
    /// - Parameters:
    ///   - query: The query, as the adapter got it.
    ///   - documents: All documents of the collections that the query looks into.
    /// - Returns: The documents that the query finds.
    /// - Throws: `StorageError/Code/cancelled` soon after the task was cancelled.
    public static func result(
        of query: DocumentQuery,
        among documents: some Sequence<Document>
    ) throws(StorageError) -> [Document] {
        let prepared = PreparedQuery(query)
        var places: [(key: [UInt8], document: Document)] = []
        var check = CancellationCheck()
        for document in documents where prepared.covers(document.path.collection) {
            try check.step()
            if let key = prepared.place(of: document) { places.append((key, document)) }
        }
        return try prepared.result(of: places)
    }

    /// Returns values computed over documents, one an aggregation.
    ///
    /// - Throws: `StorageError/Code/cancelled` soon after the task was cancelled.
    public static func values(
        of aggregations: [Aggregation],
        over documents: some Sequence<Document>
    ) throws(StorageError) -> [DocumentValue] {
        var aggregator = Aggregator(aggregations)
        var check = CancellationCheck()
        for document in documents {
            try check.step()
            aggregator.add(document)
        }
        return aggregator.values
    }
}
