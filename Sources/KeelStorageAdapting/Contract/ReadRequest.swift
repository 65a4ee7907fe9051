public import KeelDocuments

/// A question for a storage adapter's `read`.
public enum ReadOperation: Sendable, Hashable {
    /// The documents at these paths, in this order; nil for a missing one.
    case documents([DocumentPath])
    /// The documents that a query finds, in its order.
    case query(DocumentQuery)
    /// Values computed over the documents that a query finds.
    case aggregate(DocumentQuery, [Aggregation])
    /// The names of the collections of a document, or at the top level, sorted.
    case collections(under: DocumentPath?)
}

/// A read, and the conditions under which it is to be answered.
public struct ReadRequest: Sendable, Hashable {
    /// The question.
    public var operation: ReadOperation
    /// How old the state may be that the answer shows; nil asks for the present.
    ///
    /// Without it, an answer includes every commit that had returned before the read began. With it, an
    /// adapter that has a replica may answer from a state that was the present no longer ago than this.
    /// ``ReadResult/time`` and ``ReadResult/position`` are then those of that state. An adapter without
    /// a replica answers from the present, which is never too old.
    public var mostStaleness: Duration?
    /// Whether ``ReadResult/position`` is wanted; finding it can cost a little.
    public var needsPosition = false
    /// Whether a query that no declared index serves is refused rather than answered by a scan.
    public var isStrict = false
    /// The time whose state is to be read, nil for the present one.
    ///
    /// Needs `StorageCapabilities/pointInTimeReads`. A batch belongs to the state from its
    /// `CommitReceipt/commitTime` on: this is the store's time, and not the time of documents.
    /// `StorageError/Code/snapshotTooOld` is thrown for a time that the store's history does not
    /// reach back to, `StorageError/Code/invalidArgument` for one that has not come yet.
    /// ``ReadResult/position`` is then that of the past state.
    public var asOf: Timestamp?
    /// Whether ``ReadResult/time`` is wanted.
    public var needsTime = false
    /// Earlier reads whose results must be unchanged in the snapshot that this read is answered from.
    ///
    /// Needs `StorageCapabilities/checkedReads`. If a result has changed, the read throws
    /// `StorageError/Code/conflict`.
    public var reads: TransactionReads?
    /// How long the store holds the state that this read is answered from; a minute at most.
    ///
    /// Needs `StorageCapabilities/heldReads`. Until then, reads ``asOf`` the ``ReadResult/time`` of the
    /// answer are answered from the same state, and can extend the time by this property. Afterwards
    /// they throw `StorageError/Code/snapshotTooOld`, unless the store has a history. A store holds
    /// few states at a time: if it has no room and no history, the answer has no time.
    ///
    /// A read ``asOf`` the time of a held state with a duration of zero lets go of the state early. Each
    /// read that has begun to hold it does so once, since several of them may hold the same state.
    public var heldFor: Duration?
    /// Whether documents that cannot be read are reported in ``ReadResult/unreadable`` and left out;
    /// without it, or in an adapter that cannot tell them apart, one of them fails the read.
    public var reportsUnreadable = false
    /// About how many bytes of documents the answer may have; nil for any number.
    ///
    /// An adapter ends an answer of documents once it has reached this size, and then sets
    /// ``ReadResult/isPartial``. The answer has at least one document behind the query's offset, if
    /// there is one. An adapter that makes no copies of documents for an answer may ignore the limit.
    public var mostBytes: Int?

    /// Creates a request.
    public init(_ operation: ReadOperation) { self.operation = operation }
}

/// The answer to a ``ReadRequest``.
public struct ReadResult: Sendable {
    /// The answer, by the kind of operation.
    public enum Payload: Sendable {
        /// One entry a path, nil where there is no document.
        case documents([Document?])
        /// The documents of a query, in its order.
        case found([Document])
        /// One value an aggregation.
        case values([DocumentValue])
        /// Names of collections.
        case names([String])
    }

    /// The answer.
    public var payload: Payload
    /// The position of the very snapshot that was read, so that a listener goes on without a gap.
    public var position: ChangeCursor?
    /// The store's time in the very snapshot that was read.
    ///
    /// It is that of the last change that the snapshot has, and so mostly earlier than now. It never goes
    /// back, whatever the clock does. Where the store has `StorageCapabilities/pointInTimeReads`, another
    /// read as of it brings the same.
    public var time: Timestamp?
    /// How a query was answered, where the adapter plans queries.
    public var plan: QueryPlan?
    /// Documents that the read met and could not read, if ``ReadRequest/reportsUnreadable`` asked.
    ///
    /// A query does not find them, and among ``ReadOperation/documents(_:)`` they are nil.
    public var unreadable: [UnreadableDocument]
    /// Whether the answer was ended at ``ReadRequest/mostBytes``.
    ///
    /// It then holds the beginning of the whole answer: the query goes on behind its last document, and
    /// ``ReadOperation/documents(_:)`` has entries for the first paths only. For a query that is limited
    /// to its last documents, the answer holds the end instead.
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
