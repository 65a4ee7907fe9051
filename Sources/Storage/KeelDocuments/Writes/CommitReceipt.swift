/// A store's confirmation of a committed batch.
public struct CommitReceipt: Sendable, Hashable {
    /// The outcome of one write.
    public struct WriteOutcome: Sendable, Hashable {
        /// The document's revision after the batch; nil if the document no longer exists.
        public var revision: Revision?
        /// The document's ``Document/updateTime`` after the batch, even if the write changed nothing.
        ///
        /// For a document that the batch removed, this is the time of the removal, if the adapter knows it. It is nil
        /// for a document that was missing all along.
        public var updateTime: Timestamp?
        /// The results of the write's transforms, in order; null for an array transform.
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

        package mutating func settle(_ document: Document?, removed time: Timestamp?) {
            revision = document?.revision
            updateTime = document?.updateTime ?? time
        }
    }

    /// The id of the batch, if it had one.
    public var batchID: String?
    /// The store's time of the commit: a read as of this time or later includes the batch.
    ///
    /// It never decreases, whatever the clock does, and equals the update times of changed documents unless the clock
    /// was wrong. A batch that changed nothing has the time of the state that it found.
    public var commitTime: Timestamp
    /// Whether the batch changed nothing.
    package var isWithoutChanges = false
    /// The outcome of each write, in order.
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

    /// The revision of the first write's document after the batch; nil if it no longer exists.
    public var revision: Revision? { outcomes.first?.revision }
}

/// A position in a store's change log.
///
/// Of two positions from one store, the later one never compares lower.
public struct ChangeCursor: Hashable, Comparable, Sendable {
    /// The user and the epoch of a server's data for which a position was returned; each is nil if unknown.
    ///
    /// A class, because most stores have no sessions, and listeners keep many positions.
    package final class Session: Sendable {
        package let user: String?
        package let epoch: String?

        package init(user: String?, epoch: String?) {
            self.user = user
            self.epoch = epoch
        }
    }

    /// The position, in the adapter's own form.
    public let bytes: [UInt8]
    /// The session of the adapter that returned the position; neither compared nor part of ``bytes``.
    package var session: Session?

    /// Creates a cursor from an adapter's bytes.
    public init(bytes: [UInt8]) { self.bytes = bytes }

    public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    public static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
