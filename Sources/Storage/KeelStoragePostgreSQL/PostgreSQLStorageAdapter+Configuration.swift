#if PostgreSQL
public import KeelCore
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// The settings of an adapter.
    public struct Configuration: Sendable {
        /// The retention of the change log and of receipts.
        public typealias Retention = LogRetention

        /// The name of the store in the database, at most 1,500 bytes.
        ///
        /// A database holds any number of stores, which share no data. Commits of different stores lock no common rows,
        /// but PostgreSQL finishes those of a cluster one after the other, because each announces itself to listeners.
        public var store = "default"
        /// Whether a missing store is created, and with it the schema `keel`.
        ///
        /// Otherwise, opening throws `StorageError/Code/invalidArgument` for a database without the store.
        public var createsStore = true
        /// Whether the adapter connects over a network to servers that do not prove their names.
        ///
        /// By default, a server on another machine needs a certificate for its name. Without one, an attacker on the
        /// network can read and change everything.
        public var allowsUnverifiedServers = false
        /// The number of concurrent reads, each with a connection of its own; at least 1.
        ///
        /// From three on, queries leave two of the connections to reads by path, pages of changes and statistics. A
        /// server that allows fewer connections reduces the number for at least 30 seconds. The adapter has two more
        /// connections: one writes, and one waits for changes. In a store without a history, each of up to eight held
        /// states has one too. As many concurrent reads again run on standbys.
        public var readerCount = 8
        /// The maximum time that the adapter waits for an answer of the server.
        ///
        /// A read that takes longer throws `StorageError/Code/timeout`. So does a commit, which may have taken effect.
        public var answerTimeout = Duration.seconds(30)
        /// The retention of the change log and of receipts, which commits apply after about a thousand changes or a
        /// minute.
        ///
        /// Adapters of one store should have the same retention: what one of them removes is gone for all.
        public var retention = Retention()
        /// The time for which former states of documents can be read; nil keeps the store's setting.
        ///
        /// A new store keeps no history. Once an adapter has opened it with an age, every writer of the store keeps the
        /// former states of changed and deleted documents for at least this long, and `asOf(_:)` of the storage client
        /// reads them. `.zero` stops keeping a history; the next commits remove it in steps. While the clock is wrong
        /// by years, the age is shortened by at most a quarter and at most one day, and by twice that if the clock was
        /// also wrong when the store was made.
        public var history: Duration?
        /// Encrypts the contents of the store.
        ///
        /// Bodies, bound to their document's path, receipts of batches with an id, and the records that servers share
        /// are sealed. The paths of documents, times, revisions and **the values of fields in ordered indexes** stay
        /// readable in the database. An index declared `isEqualityOnly` holds keyed hashes and reveals only which
        /// documents have equal values. Open a store with the key it was created with, or after a rotation with all
        /// keys that seal its contents. ``PostgreSQLStorageAdapter/reseal(onProgress:)`` makes former keys unnecessary.
        public var sealing: (any ByteSealing)?
        /// Whether search definitions are accepted with ``sealing``; their words are then readable in the database.
        public var allowsPlaintextSearch = false
        /// The clock for waits.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The wall clock that gives documents their times; nil for that of the server, which all adapters share.
        public var now: (@Sendable () -> Timestamp)?

        /// Creates the default settings.
        public init() {}
    }
}
#endif
