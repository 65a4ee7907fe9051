#if PostgreSQL
public import KeelCore
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// The settings of an adapter.
    public struct Configuration: Sendable {
        /// The retention of the change log and of receipts.
        public typealias Retention = LogRetention

        /// The name of the store in the database: 1 to 1,500 bytes.
        ///
        /// A database holds any number of stores, which share no data. Their commits lock no common rows, but
        /// PostgreSQL finishes those of a cluster one after the other, because each announces itself to listeners.
        public var store = "default"
        /// Whether a missing store is created, and with it the schema `keel`.
        ///
        /// Otherwise, opening a missing store throws `StorageError/Code/invalidArgument`.
        public var createsStore = true
        /// Whether the adapter connects over a network to servers that do not prove their names.
        ///
        /// By default, a server on another machine needs a certificate for its name. Without one, an attacker on the
        /// network can read and change everything.
        public var allowsUnverifiedServers = false
        /// The number of concurrent reads, each with a connection of its own; at least 1.
        ///
        /// From three on, queries leave two of the connections to reads by path, pages of changes and statistics. If
        /// the server refuses a connection, the adapter reads with fewer for at least 30 seconds. Two more connections
        /// write and wait for changes. In a store without a history, each held state has one too, at most eight. If the
        /// URL names several hosts, standbys run as many reads again.
        public var readerCount = 8
        /// The maximum time that the adapter waits for the answer to one exchange with the server.
        ///
        /// A commit usually has two exchanges, a query one for each page of its result. A call throws
        /// `StorageError/Code/timeout` if an answer takes longer. A commit may then have taken effect: see
        /// `StorageError/effect`.
        public var answerTimeout = Duration.seconds(30)
        /// The retention of the change log and of receipts.
        ///
        /// Commits apply it after at most about a thousand changes, and once a minute. Adapters of one store should
        /// have the same retention: what one of them removes is gone for all.
        public var retention = Retention()
        /// The time for which former states of documents can be read; nil keeps the store's setting.
        ///
        /// A new store keeps no history. Once an adapter has opened it with an age, every writer of the store keeps the
        /// former states of changed and deleted documents for at least this long, and `asOf(_:)` of the storage client
        /// reads them, with adapters that are opened from then on. `.zero` stops keeping a history; the next commits
        /// remove it in steps.
        ///
        /// While the clock is wrong by years, the age is shortened by at most a quarter and at most one day, and by
        /// twice that if the clock was also wrong when the store was made.
        public var history: Duration?
        /// Encrypts the contents of the store.
        ///
        /// Bodies, bound to their document's path, receipts of batches with an id, and the records that servers share
        /// are sealed. The paths of documents, times, revisions and **the values of fields in ordered indexes** stay
        /// readable in the database. An index declared `isEqualityOnly` holds keyed hashes and reveals only which
        /// documents have equal values.
        ///
        /// Open a store with the key it was created with, or after a rotation with all keys that seal its contents.
        /// ``PostgreSQLStorageAdapter/reseal(onProgress:)`` makes former keys unnecessary.
        public var sealing: (any ByteSealing)?
        /// Whether search definitions are accepted with ``sealing``; their words are then readable in the database.
        public var allowsPlaintextSearch = false
        /// The clock for waits for changes, held states and pauses.
        ///
        /// Time limits of the server follow the system's clock.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The wall clock that gives documents their times; nil for the server's, which all adapters share.
        public var now: (@Sendable () -> Timestamp)?

        /// Creates the default settings.
        public init() {}
    }
}
#endif
