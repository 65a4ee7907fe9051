#if SQLite
public import KeelCore
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    /// The settings of an adapter.
    public struct Configuration: Sendable {
        /// The failures that a finished commit survives.
        public enum Durability: Sendable, Hashable {
            /// A commit survives the end of the process at any moment, including `kill -9`. After a power failure or
            /// a system crash, the last commits may be missing; those present are complete (`synchronous=NORMAL`).
            case process
            /// A commit also survives a power failure on Linux with a disk that honors flushes: each commit waits for
            /// the disk (`synchronous=FULL`), so a single commit costs as much as a flush.
            case power
        }

        /// The retention of the change log and of receipts.
        ///
        /// The log keeps every change for ``age``. After that, it keeps the last change of each document, including
        /// removals, for ``tombstoneAge``: a reader that was away for months still gets what has changed or been
        /// removed, in pages, at the cost of the changed documents. Only an older cursor expires, and its reader
        /// starts again with a copy.
        ///
        /// The log is not dropped before a registered reader has read it, but never kept longer than ``tombstoneAge``
        /// and the reader's lifetime together, so that a reader that does not return cannot make the file grow
        /// forever.
        public struct Retention: Sendable, Hashable {
            /// How long every change is kept.
            public var age: Duration
            /// How many bytes of the file are used for keeping every change; the limit reached first applies.
            ///
            /// A change counts 40 bytes plus its document's id; a removal counts 60 plus twice the id.
            public var bytes: Int
            /// How long the last change of each document is kept, including removals; at least ``age``.
            public var tombstoneAge: Duration
            /// How many bytes of the file, in addition to ``bytes``, are used for the last changes of documents,
            /// unless a registered reader needs more.
            public var tombstoneBytes: Int
            /// The minimum time for which the receipt of a batch with an id is kept.
            ///
            /// During this time, a repeated batch is recognized and gets the receipt of its first commit. A receipt
            /// takes about 100 bytes plus the results of the batch's transforms. A clock that is temporarily set to
            /// another year does not shorten the time; to ensure this, receipts stay up to a day longer, and at most
            /// a quarter of the time.
            public var receiptAge: Duration

            /// Creates a retention.
            ///
            /// By default, every change is kept for 30 days in 64 MiB, about one million changes; the last change of
            /// each document for 180 days in 256 MiB; and receipts for 7 days.
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
            var horizon: Duration { max(age, tombstoneAge) }
        }

        /// The failures that a finished commit survives.
        public var durability = Durability.process
        /// How long a call waits while another program keeps the file locked.
        public var busyTimeout = Duration.seconds(5)
        /// How often the file is polled for commits of other processes while a request waits for changes, on systems
        /// that do not report them.
        ///
        /// Linux and Apple platforms report writes to the file, so that nothing runs until then, with two exceptions:
        /// a file that is opened read-only while no other program has it open, and, on Linux, instances beyond
        /// `fs.inotify.max_user_instances`. Commits of this adapter always wake its readers.
        public var pollInterval = Duration.milliseconds(500)
        /// The retention of the change log and of receipts.
        public var retention = Retention()
        /// How far back documents can be read as of a time; nil keeps the file's setting.
        ///
        /// By default, a file keeps no history. Once an adapter has opened it with an age, every writer of the file
        /// keeps the former states of changed and deleted documents for at least this long, and `asOf(_:)` of the
        /// storage client reads them. `.zero` removes the history and stops keeping one.
        ///
        /// While the clock is wrong by years, the age is shortened by at most a quarter and at most one day. In
        /// return, the pause between two openings or commits counts at most that much, so a store that is rarely
        /// written to keeps former states longer.
        ///
        /// **Deleted documents are still in the file during this time.** Images that have become too old are removed
        /// with commits, a thousand at a time, and with the next opening; their bytes stay in free pages of the file
        /// until ``SQLiteStorageAdapter/compact()``, as after any deletion.
        ///
        /// A commit writes the former contents of each document in addition to the new ones. A file with a history
        /// has another format, which versions of Keel without histories refuse to open; none of them may have the
        /// file open when the history begins.
        public var history: Duration?
        /// Whether the store is opened read-only: nothing is created, and commits are refused.
        public var isReadOnly = false
        /// The number of concurrent reads.
        public var readerCount = 5
        /// Encrypts the contents of the file.
        ///
        /// Bodies are sealed and bound to their document's path; receipts of batches with an id are sealed too. The
        /// paths of documents, times, revisions and **the values of fields in ordered indexes** stay readable in the
        /// file, because an order cannot be kept without them. An index declared `isEqualityOnly` holds keyed hashes
        /// and reveals only which documents have equal values. A store must be opened with the key it was created
        /// with.
        public var sealing: (any ByteSealing)?
        /// Whether search definitions are accepted although ``sealing`` is set; their words are then readable in the
        /// file.
        public var allowsPlaintextSearch = false
        /// The clock for waits.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The wall clock, right or wrong, which gives documents their times.
        ///
        /// Commit times follow it and never go back. A clock that is temporarily set to another year costs wrong
        /// times of the documents written meanwhile, and nothing else.
        public var now: @Sendable () -> Timestamp = { Timestamp.now() }

        /// Whether the system is asked to report writes to the file.
        package var usesFileEvents = true

        /// Called after each step of a backup, for tests.
        package var onBackupStep: (@Sendable () -> Void)?

        /// The maximum number of pages of the file, to test a full disk.
        package var mostPages: Int?

        /// Creates the default settings.
        public init() {}
    }
}
#endif
