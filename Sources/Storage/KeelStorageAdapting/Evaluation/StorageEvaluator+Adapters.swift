public import KeelDocuments

/// Functions for adapters over databases without knowledge of Keel.
extension StorageEvaluator {
    /// The computed effects of a batch, not yet applied to the store.
    public struct BatchOutcome: Sendable {
        /// The documents to store, each once in its final state, in the order of their paths.
        public var stored: [Document]
        /// The documents to remove, some of which may not exist.
        public var removed: [DocumentPath]
        /// The receipt for the batch, without a position.
        public var receipt: CommitReceipt
    }

    /// Computes the effects of a batch, completely or not at all.
    ///
    /// - Parameters:
    ///   - batch: The batch. Its transaction reads are ignored: see ``check(_:current:found:)``.
    ///   - documents: The current states of the documents that the batch writes.
    ///   - commit: The time of the commit, and the revision of the first write; later writes get the following
    ///     revisions.
    /// - Returns: The effects, to be applied in one step, and the receipt.
    /// - Throws: The error code of a failed write condition, `StorageError/Code/tooLarge`,
    ///   `StorageError/Code/invalidArgument` for a replica whose revision is out of range, or
    ///   `StorageError/Code/corrupted` for an update of an unreadable document; the batch then has no effect.
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
            // The state before the batch determines the time, even with several writes to the document.
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
        // All outcomes of a document report its state after the batch.
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

    /// Returns the result of a query over documents, in its order.
    ///
    /// Filter, order, bounds, offset, limit and projection apply; a text search does not. Documents of other
    /// collections are ignored.
    ///
    /// - Parameters:
    ///   - query: The query that the adapter received.
    ///   - documents: All documents of the collections that the query searches.
    /// - Returns: The documents that the query finds.
    /// - Throws: `StorageError/Code/cancelled` soon after the task is canceled.
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

    /// Returns aggregated values over documents, one per aggregation.
    ///
    /// - Throws: `StorageError/Code/cancelled` soon after the task is canceled.
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
