/// A store's answer to a batch that it took.
public struct CommitReceipt: Sendable, Hashable {
    /// The outcome of one write.
    public struct WriteOutcome: Sendable, Hashable {
        /// The document's revision after the batch; nil if it does not exist then.
        public var revision: Revision?
        /// The document's ``Document/updateTime`` after the batch, also where the write changed nothing.
        ///
        /// For a document that the batch has removed, it is the time of the removal, which is nil where
        /// the adapter does not know it. It is nil for a document that was missing and still is.
        public var updateTime: Timestamp?
        /// The results of the write's transforms in order; null for those of arrays.
        public var transformResults: [DocumentValue]

        /// Creates an outcome.
        public init(
            revision: Revision?,
            updateTime: Timestamp?,
            transformResults: [DocumentValue] = []
        ) {
            self.revision = revision
            self.updateTime = updateTime
            self.transformResults = transformResults
        }

        /// The outcome of a write to a document that is then like this.
        package init(
            _ document: Document?,
            removed time: Timestamp? = nil,
            transformResults: [DocumentValue] = []
        ) {
            self.init(
                revision: document?.revision,
                updateTime: document?.updateTime ?? time,
                transformResults: transformResults
            )
        }

        /// Takes what the whole batch has made of the document.
        package mutating func settle(_ document: Document?, removed time: Timestamp?) {
            revision = document?.revision
            updateTime = document?.updateTime ?? time
        }
    }

    /// The id of the batch, if it had one.
    public var batchID: String?
    /// The store's time of the commit: a read as of it, or of any later time, includes the batch.
    ///
    /// It never goes back over the whole store, whatever the clock does. Documents have times of their own,
    /// the clock's: see ``WriteOutcome/updateTime``. Both are the same unless the clock was wrong. A
    /// batch that changed nothing has the time of the state that it left.
    public var commitTime: Timestamp
    /// One outcome a write.
    public var outcomes: [WriteOutcome]
    /// A position that includes the batch, where the store has a change log.
    public var position: ChangeCursor?

    /// Creates a receipt.
    public init(
        batchID: String? = nil,
        commitTime: Timestamp,
        outcomes: [WriteOutcome],
        position: ChangeCursor? = nil
    ) {
        self.batchID = batchID
        self.commitTime = commitTime
        self.outcomes = outcomes
        self.position = position
    }

    /// The revision of the document that the first write concerned.
    public var revision: Revision? { outcomes.first?.revision }
}
