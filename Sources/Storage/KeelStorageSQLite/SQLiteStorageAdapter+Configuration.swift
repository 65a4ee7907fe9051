#if SQLite
public import KeelCore
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    /// The settings of an adapter.
    public struct Configuration: Sendable {
        /// The failures that a finished commit survives.
        public enum Durability: Sendable, Hashable {
            /// A commit survives the end of the process. After a power failure or a system crash, the last commits may
            /// be missing; those present are complete (`synchronous=NORMAL`).
            case process
            /// A commit also survives a power failure on Linux with a disk that honors flushes: each commit waits for a
            /// flush (`synchronous=FULL`).
            case power
        }

        /// The retention of the change log and of receipts.
        public typealias Retention = LogRetention

        /// The failures that a finished commit survives.
        public var durability = Durability.process
        /// The maximum time that a call, or the opening, waits while another connection keeps the file locked.
        public var busyTimeout = Duration.seconds(5)
        /// The interval at which the file is polled for commits of other connections while a request waits for changes,
        /// if the system does not report writes.
        ///
        /// Linux and Apple platforms report writes, with two exceptions: a file that is opened read-only while no other
        /// program has it open, and, on Linux, instances beyond `fs.inotify.max_user_instances`. Commits of this
        /// adapter always wake its readers.
        public var pollInterval = Duration.milliseconds(500)
        /// The retention of the change log and of receipts.
        public var retention = Retention()
        /// The time for which former states of documents can be read; nil keeps the file's setting.
        ///
        /// A new file keeps no history. Once an adapter has opened it with an age, every writer of the file keeps the
        /// former states of changed and deleted documents for at least this long, and `asOf(_:)` of the storage client
        /// reads them. `.zero` removes the history and stops keeping one.
        ///
        /// While the clock is wrong by years, the age is shortened by at most a quarter and at most one day, and by
        /// twice that if the clock was also wrong when the store was made. The pause between two openings or commits
        /// counts at most that much, so a store that is rarely written to keeps former states longer.
        ///
        /// Deleted documents are **still in the file** during this time. Older images are removed with commits and
        /// openings, a thousand at a time. As after any deletion, their bytes stay in free pages of the file until
        /// ``SQLiteStorageAdapter/compact()``.
        ///
        /// A commit writes the former contents of each document in addition to the new ones. Versions of Keel without
        /// histories refuse to open a file with one; none of them may have the file open when the history begins.
        public var history: Duration?
        /// Whether the store is opened read-only: nothing is created, and commits throw `StorageError/Code/readOnly`.
        public var isReadOnly = false
        /// The maximum number of concurrent reads.
        public var readerCount = 5
        /// The maximum memory for pages of the file that each connection keeps, in bytes; 8 MiB by default.
        ///
        /// One connection writes, up to ``readerCount`` read, and each held state has one. A connection takes the
        /// memory as it uses pages. See https://sqlite.org/pragma.html#pragma_cache_size.
        public var cacheSize = 8 << 20
        /// Encrypts the contents of the file.
        ///
        /// Bodies, bound to their document's path, and receipts of batches with an id are sealed. The paths of
        /// documents, times, revisions and **the values of fields in ordered indexes** stay readable in the file. An
        /// index declared `isEqualityOnly` holds keyed hashes and reveals only which documents have equal values. Open
        /// a store with the key it was created with, or after a rotation with all keys that seal its contents.
        /// ``SQLiteStorageAdapter/reseal(onProgress:)`` makes former keys unnecessary.
        public var sealing: (any ByteSealing)?
        /// Whether search definitions are accepted with ``sealing``; their words are then readable in the file.
        public var allowsPlaintextSearch = false
        /// The clock for waits.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The wall clock, which gives documents their times.
        ///
        /// Commit times follow it and never go back. While it is wrong, written documents get wrong times.
        public var now: @Sendable () -> Timestamp = { Timestamp.now() }

        package var usesFileEvents = true

        package var onBackupStep: (@Sendable () -> Void)?

        /// The size of the write-ahead log, in bytes, beyond which commits wait for readers in order to empty it.
        package var longestLog = 64 << 20

        package var mostPages: Int?

        /// Creates the default settings.
        public init() {}
    }
}
#endif
