public import KeelDocuments

/// Writes that take effect together or not at all.
public struct WriteBatch: Sendable, Hashable {
    /// The id by which a repetition of this batch is recognised.
    ///
    /// Where the adapter offers `StorageCapabilities/idempotentCommits`, a second commit with the
    /// same id changes nothing and returns the first receipt. A batch without one is applied each
    /// time it is committed, which costs less; whoever may repeat a commit gives it an id, as
    /// `RetryingStorageAdapter` does.
    public var id: String?
    /// The writes, applied in order.
    public var writes: [DocumentWrite]
    /// The reads of a transaction, whose documents must not have changed since.
    public var reads: TransactionReads?
    /// Whose mutation the batch is; needs `StorageCapabilities/origins`.
    public var origin: ChangeOrigin?

    /// Creates a batch.
    public init(
        id: String? = nil,
        _ writes: [DocumentWrite],
        reads: TransactionReads? = nil,
        origin: ChangeOrigin? = nil
    ) {
        self.id = id
        self.writes = writes
        self.reads = reads
        self.origin = origin
    }
}

/// The client that a batch comes from, and which of its mutations the batch is.
///
/// The change log keeps it, so that a client recognises its own writes in what it reads. A batch
/// without one leaves no trace of its author. It does not replace ``WriteBatch/id``: that names one
/// commit among all, to apply it once; this tells what came from where, and in which order.
public struct ChangeOrigin: Sendable, Hashable {
    /// The client: a random name that an installation gives itself, of at most 1,500 bytes.
    public var client: String
    /// The number of the mutation, which grows by one from mutation to mutation of the client.
    ///
    /// The store keeps the highest number of each client. A client commits its mutations in order, so
    /// that the highest one acknowledges all before it.
    public var mutation: Int64

    /// Creates an origin.
    public init(client: String, mutation: Int64) {
        self.client = client
        self.mutation = mutation
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
        documents: [DocumentRead] = [],
        queries: [QueryRead] = [],
        position: ChangeCursor? = nil
    ) {
        self.documents = documents
        self.queries = queries
        self.position = position
    }
}
