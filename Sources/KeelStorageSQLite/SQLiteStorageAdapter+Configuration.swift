#if SQLite
public import KeelCore
public import KeelStorageAdapting

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
        /// The log has every change for a while. Then it has the last change of each document, removals
        /// included, for longer: a reader that was away for months learns what has changed and what is
        /// gone, in pages, at the cost of what has changed. Only a cursor from before that expires, and its
        /// reader begins again from a copy.
        ///
        /// A registered reader keeps the log from being dropped before it has read it, but never what is
        /// older than ``tombstoneAge`` and the reader's lifetime together: a reader that does not come back must
        /// not make the file grow for ever.
        public struct Retention: Sendable, Hashable {
            /// How long every change is kept.
            public var age: Duration
            /// How many bytes of the file every change is kept in, whichever limit is reached first.
            ///
            /// A change counts 40 bytes and its document's id; a removal counts 60 and its id twice.
            public var bytes: Int
            /// How long the last change of each document is kept, removals included; ``age`` at least.
            public var tombstoneAge: Duration
            /// How many bytes of the file the last changes of documents are kept in, besides ``bytes``,
            /// where no registered reader needs more.
            public var tombstoneBytes: Int
            /// How long the receipt of a batch with an id is kept at least.
            ///
            /// For so long a repeated batch is recognised and answered as the first time, whatever else
            /// is written meanwhile. A receipt takes about a hundred bytes and the results of the batch's
            /// transforms. A clock that is set to another year and back takes nothing from the time; for that a
            /// receipt stays up to a day, and a quarter of the time at most, longer.
            public var receiptAge: Duration

            /// Creates a rule.
            ///
            /// By default every change is kept for 30 days in 64 MiB, which is about a million changes, the last
            /// one of each document for 180 days in 256 MiB, and receipts for 7 days.
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

            /// How old the oldest change is that readers can still go on from.
            var horizon: Duration { max(age, tombstoneAge) }
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
