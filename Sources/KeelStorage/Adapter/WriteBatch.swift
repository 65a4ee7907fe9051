/// Writes that take effect together or not at all.
public struct WriteBatch: Sendable, Hashable {
    /// The id by which a repetition of this batch is recognised.
    ///
    /// Where the adapter offers ``StorageCapabilities/idempotentCommits``, a second commit with the
    /// same id changes nothing and returns the first receipt. A batch without one is applied each
    /// time it is committed, which costs less; whoever may repeat a commit gives it an id, as
    /// ``RetryingStorageAdapter`` does.
    public var id: String?
    /// The writes, applied in order.
    public var writes: [DocumentWrite]
    /// The reads of a transaction, whose documents must not have changed since.
    public var reads: TransactionReads?

    /// Creates a batch.
    public init(id: String? = nil, _ writes: [DocumentWrite], reads: TransactionReads? = nil) {
        self.id = id
        self.writes = writes
        self.reads = reads
    }
}

/// The reads of a transaction, for the store to check before it commits.
public struct TransactionReads: Sendable, Hashable {
    /// A query and what it found.
    public struct QueryRead: Sendable, Hashable {
        /// The query.
        public var query: DocumentQuery
        /// The documents it found, in order, each at the revision that was read.
        public var found: [DocumentRead]

        /// Creates the record of a query.
        public init(query: DocumentQuery, found: [DocumentRead]) {
            self.query = query
            self.found = found
        }
    }

    /// A document and the revision it was read at; nil if it was missing.
    public struct DocumentRead: Sendable, Hashable {
        /// The document.
        public var path: DocumentPath
        /// Its revision, nil if there was no document.
        public var revision: Revision?

        /// Creates the record of a document.
        public init(path: DocumentPath, revision: Revision?) {
            self.path = path
            self.revision = revision
        }
    }

    /// A token of a backend that keeps the read set itself.
    public var token: String?
    /// The documents read by path.
    public var documents: [DocumentRead]
    /// The queries read.
    public var queries: [QueryRead]
    /// A position of the store at which all of these results held, if one is known.
    ///
    /// A store that is still at this position need not check the single results.
    public var position: ChangeCursor?

    /// Creates a read set.
    public init(
        token: String? = nil,
        documents: [DocumentRead] = [],
        queries: [QueryRead] = [],
        position: ChangeCursor? = nil
    ) {
        self.token = token
        self.documents = documents
        self.queries = queries
        self.position = position
    }
}

/// A store's answer to a batch that it took.
public struct CommitReceipt: Sendable, Hashable {
    /// How far a batch has come.
    public enum Stage: Sendable, Hashable {
        /// It is kept on this device, and will be sent.
        case local
        /// The store that has the last word took it.
        case accepted
    }

    /// The outcome of one write.
    public struct WriteOutcome: Sendable, Hashable {
        /// The document's revision after the batch; nil if it does not exist then.
        public var revision: Revision?
        /// The results of the write's transforms in order; null for those of arrays.
        public var transformResults: [DocumentValue]

        /// Creates an outcome.
        public init(revision: Revision?, transformResults: [DocumentValue] = []) {
            self.revision = revision
            self.transformResults = transformResults
        }
    }

    /// The id of the batch, if it had one.
    public var batchID: String?
    /// How far the batch has come.
    public var stage: Stage
    /// The time of the commit, which `serverTimestamp` used.
    public var commitTime: Timestamp
    /// One outcome a write.
    public var outcomes: [WriteOutcome]
    /// A position that includes the batch, where the store has a change log.
    public var position: ChangeCursor?

    /// Creates a receipt.
    public init(
        batchID: String? = nil,
        stage: Stage,
        commitTime: Timestamp,
        outcomes: [WriteOutcome],
        position: ChangeCursor? = nil
    ) {
        self.batchID = batchID
        self.stage = stage
        self.commitTime = commitTime
        self.outcomes = outcomes
        self.position = position
    }

    /// The revision of the document that the first write concerned.
    public var revision: Revision? { outcomes.first?.revision }
}
