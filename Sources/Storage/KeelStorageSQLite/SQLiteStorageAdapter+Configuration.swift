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
        public typealias Retention = LogRetention

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
        /// While the clock is wrong by years, the age is shortened by at most a quarter and at most one day, and by
        /// twice that if the clock was also wrong when the store was made. In return, the pause between two openings
        /// or commits counts at most that much, so a store that is rarely written to keeps former states longer.
        ///
        /// **Deleted documents are still in the file during this time.** Images that have become too old are removed
        /// with commits, a thousand at a time, and with the next opening at which the file is not locked and the disk
        /// not full; their bytes stay in free pages of the file until ``SQLiteStorageAdapter/compact()``, as after any
        /// deletion.
        ///
        /// A commit writes the former contents of each document in addition to the new ones. A file with a history
        /// has another format, which versions of Keel without histories refuse to open; none of them may have the
        /// file open when the history begins.
        public var history: Duration?
        /// Whether the store is opened read-only: nothing is created, and commits are refused.
        public var isReadOnly = false
        /// The number of concurrent reads.
        public var readerCount = 5
        /// The maximum memory for pages of the file that a connection keeps, in bytes; 8 MiB by default.
        ///
        /// One connection writes and up to ``readerCount`` read. Each takes the memory as it uses pages. With SQLite's
        /// own default of 2 MiB, a set in a store of 10,000 documents and more takes about 1.7 times as long, and a get
        /// 1.4 times. See https://sqlite.org/pragma.html#pragma_cache_size.
        public var cacheSize = 8 << 20
        /// Encrypts the contents of the file.
        ///
        /// Bodies are sealed and bound to their document's path; receipts of batches with an id are sealed too. The
        /// paths of documents, times, revisions and **the values of fields in ordered indexes** stay readable in the
        /// file, because an order cannot be kept without them. An index declared `isEqualityOnly` holds keyed hashes
        /// and reveals only which documents have equal values. Open a store with the key
        /// it was created with, or after a rotation with all keys that seal its contents.
        /// ``SQLiteStorageAdapter/reseal(onProgress:)`` makes former keys unnecessary.
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

        /// The size of the write-ahead log, in bytes, beyond which commits wait for readers in order to empty it.
        package var longestLog = 64 << 20

        /// The maximum number of pages of the file, to test a full disk.
        package var mostPages: Int?

        /// Creates the default settings.
        public init() {}
    }
}
#endif
