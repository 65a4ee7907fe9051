public import KeelDocuments

extension StorageEvaluator {
    /// The times of a commit, and the revision for its writes.
    ///
    /// The store's time never decreases and identifies the state after the commit; the time of documents is the
    /// clock's. They are equal unless the store is ahead of the clock by more than a second, as after the clock was set
    /// to another year and back.
    public struct Commit: Sendable, Hashable {
        /// The store's time of the commit: `CommitReceipt/commitTime`.
        public var storeTime: Timestamp
        /// The time that `serverTimestamp` sets, truncated to milliseconds, and the update time of documents that are
        /// not ahead of it.
        public var time: Timestamp
        /// The revision for the document; a document already at or beyond it gets the next one.
        public var revision: Int64
        /// The update time for the document; nil for the later of ``time`` and the time after its last update.
        ///
        /// Set it if a batch may write a document twice, or if the time of a document's removal is known: see
        /// ``documentTime(after:)``.
        public var documentTime: Timestamp?

        /// The lead of the store's time over the clock up to which documents use the store's time.
        ///
        /// It keeps times distinct and ordered for many commits within a microsecond and after small clock corrections.
        private static let tolerance = Duration.seconds(1)
        /// The end of the year 9999: a later clock is wrong, and the store's time must not run out.
        private static let latest = Timestamp(microseconds: 253_402_300_799_999_999)

        /// Creates a commit in a store whose time always equals the clock.
        public init(time: Timestamp, revision: Int64) {
            storeTime = time
            self.time = time
            self.revision = revision
        }

        /// Creates a commit that follows another, by the current time of a clock that may be wrong.
        public init(after last: Timestamp, clock: Timestamp, revision: Int64 = 0) {
            let clock = min(clock, Self.latest)
            // The microsecond between is that of batches that change nothing, which Google's clients expect to be
            // later than the state that they find.
            storeTime = max(clock, last.advanced(by: .microseconds(2)))
            let isAhead = storeTime > clock.advanced(by: Self.tolerance)
            time = isAhead ? clock : storeTime
            self.revision = revision
        }

        /// Returns the update time, or the time of removal, of a document that the commit changes.
        ///
        /// - Parameter last: The update time of the document before the batch, or the time of its removal; nil if
        ///   neither is known.
        /// - Returns: A time later than `last`.
        public func documentTime(after last: Timestamp?) -> Timestamp {
            last.map { max(time, $0.advanced(by: .microseconds(1))) } ?? time
        }
    }
}
