#if SQLite
public import KeelCore
public import KeelStorage

extension SQLiteStorageAdapter {
    /// The settings of an adapter.
    public struct Configuration: Sendable {
        /// What a finished commit survives.
        public enum Durability: Sendable, Hashable {
            /// The death of the process at any moment, `kill -9` included. After a power failure or
            /// a crash of the system the last commits may be missing; those that are there are
            /// whole (`synchronous=NORMAL`).
            case process
            /// A power failure too: each commit waits for the disk (`synchronous=FULL`). On Linux
            /// with a disk that keeps its promises; a single commit costs what a flush costs.
            case power
        }

        /// How much of the change log is kept, and how long receipts.
        ///
        /// A cursor that the log no longer reaches back to expires, and its reader begins again
        /// from a copy. A registered reader keeps what it has not read yet, but never longer than
        /// the age allows: a reader that does not come back must not make the file grow for ever.
        public struct Retention: Sendable, Hashable {
            /// The longest that a change is kept.
            public var age: Duration
            /// How many changes are kept, where no registered reader needs more.
            public var count: Int
            /// How long the receipt of a batch with an id is kept at least.
            ///
            /// For so long a repeated batch is recognised and answered as the first time, whatever else
            /// is written meanwhile. A receipt takes about a hundred bytes and the results of the batch's
            /// transforms. A clock that leaps forward shortens the time by a day at most.
            public var receiptAge: Duration

            /// Creates a rule; by default 30 days, 100,000 changes, and receipts for 7 days.
            public init(
                age: Duration = .seconds(30 * 86_400),
                count: Int = 100_000,
                receiptAge: Duration = .seconds(7 * 86_400)
            ) {
                self.age = age
                self.count = max(1, count)
                self.receiptAge = receiptAge
            }
        }

        /// What a finished commit survives.
        public var durability = Durability.process
        /// How long a call waits while another program keeps the file locked.
        public var busyTimeout = Duration.seconds(5)
        /// How often the file is looked at for the commits of other processes, while somebody waits for
        /// changes, where the system does not tell of them.
        ///
        /// Linux and Apple's systems tell when the file is written to, and nothing runs before. They do not
        /// where the file was opened for reading only and nobody else has it open, and Linux does not
        /// beyond `fs.inotify.max_user_instances`. Commits of this adapter wake its readers in any case.
        public var pollInterval = Duration.milliseconds(500)
        /// How much of the change log is kept.
        public var retention = Retention()
        /// How far back documents can be read as they were; nil leaves that as the file has it.
        ///
        /// By default a file keeps no history. Once an adapter was opened with an age, every writer
        /// of the file keeps what documents were until they were changed or deleted, for at least
        /// this long, and `asOf(_:)` of the storage client reads it. `.zero` removes the history
        /// and ends it.
        ///
        /// A clock that is set to another year takes at most a quarter of the time from it, and a day at most, as
        /// long as it is wrong. In return, no opening and no pause between two commits counts more
        /// than that: what is older stays longer where a store is rarely written to.
        ///
        /// **What was deleted is still in the file meanwhile.** What has become too old goes with
        /// commits, a thousand images at a time, and with the next opening; its bytes are in
        /// free pages of the file until ``SQLiteStorageAdapter/compact()``, as with any deletion.
        ///
        /// A commit writes the former contents of each document besides the new ones. Such a file
        /// has a format of its own, which a version of Keel that knows no history refuses to open;
        /// let none have it open while the history begins.
        public var history: Duration?
        /// Whether the store is only read: nothing is created, and commits are refused.
        public var isReadOnly = false
        /// How many reads can run at the same time.
        public var readerCount = 5
        /// Encrypts what the file holds.
        ///
        /// Bodies are sealed, bound to their document's path, and so are the receipts of batches
        /// with an id. Readable in the file stay: the paths of documents, times and revisions, and
        /// **the values of fields in ordered indexes**, because an order cannot be kept without
        /// them. An index declared `isEqualityOnly` holds keyed hashes and gives away only which
        /// documents have equal values. A store is opened with the key it was created with.
        public var sealing: (any ByteSealing)?
        /// Whether search definitions are taken although ``sealing`` is set; their words are then
        /// readable in the file.
        public var allowsSearchableText = false
        /// The clock on which the adapter waits.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The wall clock, right or wrong, which documents have their times from.
        ///
        /// The store's own time follows it and never goes back. A clock that is set to another year and back
        /// costs wrong times of the documents written meanwhile, and nothing else.
        public var now: @Sendable () -> Timestamp = { Timestamp.now() }

        /// Whether the system is asked to tell when the file is written to.
        package var usesFileEvents = true

        /// Called after each step of a backup, for tests.
        package var onBackupStep: (@Sendable () -> Void)?

        /// How many pages the file may grow to, for tests of a full disk.
        package var mostPages: Int?

        /// Creates the default settings.
        public init() {}
    }
}
#endif
