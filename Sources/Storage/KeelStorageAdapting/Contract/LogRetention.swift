/// The retention of a store's change log and receipts.
///
/// The log keeps every change for ``age``. After that, it keeps the last change of each document, including removals,
/// for ``tombstoneAge``. An older cursor expires, and its reader starts again with a copy.
///
/// The log keeps the changes that a registered reader has not read, for at most ``tombstoneAge`` plus the reader's
/// lifetime.
///
/// Ages follow the wall clock, but a step of more than a day counts as a day until the clock is right again. The limits
/// are enforced with later commits.
public struct LogRetention: Sendable, Hashable {
    /// The time for which every change is kept.
    public var age: Duration
    /// The maximum size of the changes kept for ``age``, in bytes; the limit reached first applies.
    ///
    /// A change counts 40 bytes plus its document's id; a removal counts 60 plus twice the id.
    public var bytes: Int
    /// The time for which the last change of each document is kept, including removals; at least ``age``.
    public var tombstoneAge: Duration
    /// The maximum size of the last changes of documents in bytes, in addition to ``bytes``, unless a registered reader
    /// needs more.
    public var tombstoneBytes: Int
    /// The minimum time for which the receipt of a batch with an id is kept.
    ///
    /// During this time, a repeated batch gets the receipt of its first commit. A receipt takes about 100 bytes plus
    /// the results of the batch's transforms. Receipts stay up to a quarter of the time longer, at most a day, so that
    /// a wrong clock does not shorten it.
    public var receiptAge: Duration

    /// Creates a retention.
    ///
    /// By default, every change is kept for 30 days in 64 MiB, about one million changes; the last change of each
    /// document for 180 days in 256 MiB; and receipts for 7 days.
    public init(
        age: Duration = .seconds(30 * 86_400),
        bytes: Int = 64 << 20,
        tombstoneAge: Duration = .seconds(180 * 86_400),
        tombstoneBytes: Int = 256 << 20,
        receiptAge: Duration = .seconds(7 * 86_400)
    ) {
        self.age = age
        self.bytes = bytes
        self.tombstoneAge = tombstoneAge
        self.tombstoneBytes = tombstoneBytes
        self.receiptAge = receiptAge
    }

    /// The age of the oldest change from which readers can still continue.
    package var horizon: Duration { max(age, tombstoneAge) }

    /// The age at which receipts are removed: a clock that jumps shortens an age until it is right again.
    package var longestReceiptAge: Duration {
        receiptAge + min(receiptAge / 4, .microseconds(StoreAge.longestStep))
    }
}
