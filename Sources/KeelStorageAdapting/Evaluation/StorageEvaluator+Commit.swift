public import KeelDocuments

extension StorageEvaluator {
    /// When a batch is committed, and the revision its writes get.
    ///
    /// A commit has two times. The store's never goes back and names the state that the commit led to. The
    /// documents' is that of the clock. Both are the same, unless the store is ahead of the clock by more
    /// than a second, as after a clock that was set to another year and back: such a clock then costs the
    /// times of what was written meanwhile, and nothing that is written later.
    public struct Commit: Sendable, Hashable {
        /// The store's time of the commit: `CommitReceipt/commitTime`.
        public var storeTime: Timestamp
        /// What `serverTimestamp` sets, and the update time of documents that are not ahead of it.
        public var time: Timestamp
        /// The revision for the document, unless it is at that revision or beyond already.
        public var revision: Int64
        /// The update time that the document gets; nil for ``time``, or what follows the document's last one.
        ///
        /// Set it where a batch may write to a document twice, or where the time of a document's
        /// removal is known: see ``documentTime(after:)``.
        public var documentTime: Timestamp?

        /// How far the store's time may be ahead of the clock for documents to get it all the same.
        ///
        /// Many commits in one microsecond, or a clock that is put right by a little, then still have times
        /// of their own, in their order.
        private static let tolerance = Duration.seconds(1)
        /// The end of the year 9999: no clock is right beyond it, and the store's time must not run out.
        private static let latest = Timestamp(microseconds: 253_402_300_799_999_999)

        /// Creates the circumstances of a write in a store whose time is always the clock's.
        public init(time: Timestamp, revision: Int64) {
            storeTime = time
            self.time = time
            self.revision = revision
        }

        /// Creates the circumstances of a write in a store that has come to a time.
        ///
        /// - Parameters:
        ///   - last: The store's time of the last commit.
        ///   - clock: The clock's time, right or wrong.
        ///   - revision: The revision for the document.
        public init(after last: Timestamp, clock: Timestamp, revision: Int64 = 0) {
            let clock = min(clock, Self.latest)
            storeTime = max(clock, last.advanced(by: .microseconds(1)))
            let isAhead = storeTime > clock.advanced(by: Self.tolerance)
            time = isAhead ? clock : storeTime
            self.revision = revision
        }

        /// The update time of a document that is changed by the commit, or the time of its removal.
        ///
        /// - Parameter last: The update time that the document had before the batch, or the time of its
        ///   removal; nil if it never was there, or is not known to have been.
        /// - Returns: A time that is later than the last one.
        public func documentTime(after last: Timestamp?) -> Timestamp {
            last.map { max(time, $0.advanced(by: .microseconds(1))) } ?? time
        }
    }
}
