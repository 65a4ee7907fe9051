public import KeelDocuments

/// A set of writes that takes effect completely or not at all.
public struct WriteBatch: Sendable, Hashable {
    /// The id that identifies repetitions of this batch, at most 1,500 bytes.
    ///
    /// With `StorageCapabilities/idempotentCommits`, a second commit with the same id changes nothing and returns the
    /// first receipt. A batch without an id is applied each time it is committed, at less cost.
    public var id: String?
    /// The writes, applied in order.
    public var writes: [DocumentWrite]
    /// The reads of a transaction, whose results must not have changed since.
    public var reads: TransactionReads?
    /// The client mutation that the batch represents; needs `StorageCapabilities/origins`.
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

extension WriteBatch {
    /// Checks the lengths of the batch's id and of its client's name, by which stores find them.
    ///
    /// - Throws: `StorageError/Code/invalidArgument`.
    package func checkNames() throws(StorageError) {
        if let id { try Self.check(id, "the id of a batch") }
        if let origin { try Self.check(origin.client, "the name of a client") }
    }

    private static func check(_ name: String, _ kind: String) throws(StorageError) {
        let count = name.utf8.count
        guard count > StoredName.longest else { return }
        throw StorageError(
            .invalidArgument,
            "\(kind) has \(count) bytes; the limit is \(StoredName.longest)"
        )
    }
}

/// The client that a batch comes from, and the number of its mutation.
///
/// The change log records the origin, so that a client recognizes its own writes when reading changes. The origin does
/// not replace ``WriteBatch/id``: it does not keep a batch from being applied twice.
public struct ChangeOrigin: Sendable, Hashable {
    /// The client: a random name that an installation gives itself, at most 1,500 bytes.
    public var client: String
    /// The number of the mutation, which increases by one with each mutation of the client.
    ///
    /// A client commits its mutations in order: the highest number in the store acknowledges all before it.
    public var mutation: Int64

    /// Creates an origin.
    public init(client: String, mutation: Int64) {
        self.client = client
        self.mutation = mutation
    }
}

/// The reads of a transaction, which the store checks before committing.
public struct TransactionReads: Sendable, Hashable {
    /// A query and its result.
    public struct QueryRead: Sendable, Hashable {
        /// The query.
        public var query: DocumentQuery
        /// The documents in the result, in order, each at the revision that was read.
        public var found: [DocumentRead]

        /// Creates the record of a query.
        public init(query: DocumentQuery, found: [DocumentRead]) {
            self.query = query
            self.found = found
        }
    }

    /// A document and the revision that was read; nil if the document was missing.
    public struct DocumentRead: Sendable, Hashable {
        /// The document.
        public var path: DocumentPath
        /// The revision that was read; nil if the document was missing.
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
    /// A position of the store at which all results were valid, if known.
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
