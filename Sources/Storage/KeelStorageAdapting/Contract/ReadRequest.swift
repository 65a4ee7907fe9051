public import KeelDocuments

/// A read operation of a storage adapter.
public enum ReadOperation: Sendable, Hashable {
    /// Reads the documents at these paths, in this order; nil for a missing document.
    case documents([DocumentPath])
    /// Reads the documents that a query finds, in its order.
    case query(DocumentQuery)
    /// Computes values over the documents that a query finds.
    case aggregate(DocumentQuery, [Aggregation])
    /// Lists the names of the collections below a document, or at the top level, in sorted order.
    case collections(under: DocumentPath?)
}

/// A read operation and its options.
public struct ReadRequest: Sendable, Hashable {
    /// The operation to perform.
    public var operation: ReadOperation
    /// The maximum age of the state that the answer can come from; nil for the current state.
    ///
    /// With nil, the answer includes every commit that returned before the read began. With a duration, an adapter with
    /// a replica may answer from a state that was current at most that long before. The answer can lack the caller's
    /// own last commits, and a read can see an earlier state than the read before it. Reads ``asOf`` a time, with
    /// ``holdDuration`` or with ``reads`` ignore the duration.
    ///
    /// `PostgreSQLStorageAdapter` answers from a standby, if its URL names one and the duration is at least 100
    /// milliseconds. An adapter without a replica answers from the current state, as the memory and SQLite adapters do.
    /// `FirestoreStorageAdapter` sends the duration to `keel serve`, which passes it to its store.
    public var maximumStaleness: Duration?
    /// Whether the answer needs ``ReadResult/position``.
    public var needsPosition = false
    /// Whether a query without a declared index throws `StorageError/Code/indexRequired` instead of scanning.
    public var isStrict = false
    /// The time whose state to read; nil for the current state.
    ///
    /// Needs `StorageCapabilities/pointInTimeReads`. The time is a store time, not a time of documents: a state
    /// includes the batches whose `CommitReceipt/commitTime` is not later. The read throws
    /// `StorageError/Code/snapshotTooOld` for a time before the store's history, and
    /// `StorageError/Code/invalidArgument` for a time in the future.
    public var asOf: Timestamp?
    /// Whether the answer needs ``ReadResult/time``.
    public var needsTime = false
    /// Earlier reads whose results must be unchanged in the snapshot that this read uses.
    ///
    /// Needs `StorageCapabilities/checkedReads`. If a result has changed, the read throws `StorageError/Code/conflict`.
    public var reads: TransactionReads?
    /// The time for which the store holds the state of this read, at most a minute; nil not to hold it.
    ///
    /// Needs `StorageCapabilities/heldReads`. While the state is held, reads ``asOf`` the answer's ``ReadResult/time``
    /// use the same state, and can extend the time by setting this property. Later reads throw
    /// `StorageError/Code/snapshotTooOld`, unless the store has a history. A store holds only a few states at a time.
    /// If it can hold no more and has no history, the answer has no time.
    ///
    /// A read ``asOf`` that time with a duration of zero releases the state early, unless the read fails. Several reads
    /// can hold the same state; each of them releases it once.
    public var holdDuration: Duration?
    /// Whether the answer reports unreadable documents in ``ReadResult/unreadable`` and omits them.
    ///
    /// Otherwise, or in an adapter that cannot identify unreadable documents, one unreadable document fails the read.
    public var reportsUnreadable = false
    /// The approximate maximum size of the documents in the answer, in bytes; nil for no limit.
    ///
    /// An adapter ends an answer once the answer reaches this size, and sets ``ReadResult/isPartial``. The answer has
    /// at least one document after the query's offset, if there is one. An adapter that does not copy documents for an
    /// answer may ignore the limit.
    public var maximumBytes: Int?

    /// Creates a request.
    public init(_ operation: ReadOperation) { self.operation = operation }
}

/// The answer to a ``ReadRequest``.
public struct ReadResult: Sendable {
    /// The content of an answer, by kind of operation.
    public enum Payload: Sendable {
        /// One entry per path; nil for a missing document.
        case documents([Document?])
        /// The documents of a query, in its order.
        case found([Document])
        /// One value per aggregation.
        case values([DocumentValue])
        /// The names of collections.
        case names([String])
    }

    /// The content of the answer.
    public var payload: Payload
    /// The position of the snapshot that was read, from which a listener can continue without a gap.
    public var position: ChangeCursor?
    /// The store's time of the snapshot that was read.
    ///
    /// It is the time of the last change in the snapshot, and never decreases. In a store with
    /// `StorageCapabilities/pointInTimeReads`, a read as of this time returns the same result.
    public var time: Timestamp?
    /// The query's plan, if the adapter plans queries.
    public var plan: QueryPlan?
    /// The unreadable documents that the read encountered, if ``ReadRequest/reportsUnreadable`` is set.
    ///
    /// Query results omit them, and ``ReadOperation/documents(_:)`` returns nil for them.
    public var unreadable: [UnreadableDocument]
    /// Whether the answer ended early because of ``ReadRequest/maximumBytes``.
    ///
    /// A partial answer is the beginning of the whole answer: a query continues after its last document, and
    /// ``ReadOperation/documents(_:)`` has entries for only the first paths. For a query limited to its last documents,
    /// a partial answer is the end of the whole answer.
    public var isPartial: Bool

    /// Creates an answer.
    public init(
        _ payload: Payload,
        position: ChangeCursor? = nil,
        time: Timestamp? = nil,
        plan: QueryPlan? = nil,
        unreadable: [UnreadableDocument] = [],
        isPartial: Bool = false
    ) {
        self.payload = payload
        self.position = position
        self.time = time
        self.plan = plan
        self.unreadable = unreadable
        self.isPartial = isPartial
    }
}
