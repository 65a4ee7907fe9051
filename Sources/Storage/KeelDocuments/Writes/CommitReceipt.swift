/// A store's confirmation of a committed batch.
public struct CommitReceipt: Sendable, Hashable {
    /// The outcome of one write.
    public struct WriteOutcome: Sendable, Hashable {
        /// The document's revision after the batch; nil if the document no longer exists.
        public var revision: Revision?
        /// The document's ``Document/updateTime`` after the batch, even if the write changed nothing.
        ///
        /// For a document that the batch removed, this is the time of the removal, or nil if the adapter does not know
        /// it. It is nil if the document did not exist before or after the batch.
        public var updateTime: Timestamp?
        /// The results of the write's transforms, in order; null for array transforms.
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

        /// Creates the outcome of a write that left the document in this state.
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

        /// Updates the outcome to the document's state after the whole batch.
        package mutating func settle(_ document: Document?, removed time: Timestamp?) {
            revision = document?.revision
            updateTime = document?.updateTime ?? time
        }
    }

    /// The id of the batch, if it had one.
    public var batchID: String?
    /// The store's time of the commit: a read as of this time, or any later time, includes the batch.
    ///
    /// Commit times never decrease across the store, whatever the clock does. They equal the clock-based times of
    /// documents (``WriteOutcome/updateTime``) unless the clock was wrong. A batch that changed nothing has the time of
    /// the state that it left unchanged.
    public var commitTime: Timestamp
    /// Whether the batch changed nothing.
    package var isWithoutChanges = false
    /// One outcome per write, in order.
    public var outcomes: [WriteOutcome]
    /// A position that includes the batch, if the store has a change log.
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

    /// The revision of the document that the first write targeted.
    public var revision: Revision? { outcomes.first?.revision }
}

/// A position in a store's change log.
///
/// The bytes belong to the adapter, with one guarantee for readers: of two positions from the same store, the later one
/// never compares lower. Listeners use this order to detect whether a page has changes that they have not read.
public struct ChangeCursor: Hashable, Comparable, Sendable {
    /// The position, in a form that only the adapter that created it understands.
    public let bytes: [UInt8]

    /// Creates a cursor from an adapter's bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    public static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
