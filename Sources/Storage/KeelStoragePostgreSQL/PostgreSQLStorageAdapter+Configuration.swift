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
        /// A database holds any number of stores, which share nothing but the server. Commits of different stores lock
        /// no common rows, but PostgreSQL finishes those of a cluster one after the other, because each announces
        /// itself to listeners.
        public var store = "default"
        /// Whether a missing store is created, and the schema `keel` with it.
        ///
        /// Otherwise, a database without the store is left as it is, and opening throws
        /// `StorageError/Code/invalidArgument`.
        public var createsStore = true
        /// Whether the adapter connects over a network to servers that do not prove their names.
        ///
        /// By default, a server on another machine needs a certificate for its name. Without one, an attacker on the
        /// network can read and change everything.
        public var allowsUnverifiedServers = false
        /// The number of concurrent reads, each with a connection of its own; at least 1.
        ///
        /// From three on, queries leave two of the connections to reads by path, pages of changes and statistics, which
        /// slow queries then do not hold up. A server that allows fewer connections reduces the number for at least 30
        /// seconds. The adapter has two more connections: one writes, and one waits for changes. In a store without a
        /// history, each held state has one too, and there are at most eight. As many concurrent reads again run on
        /// standbys.
        public var readerCount = 8
        /// How long the adapter waits for an answer of the server.
        ///
        /// A read that takes longer throws `StorageError/Code/timeout`. So does a commit, which may have taken effect.
        public var answerTimeout = Duration.seconds(30)
        /// The retention of the change log and of receipts, which commits apply once in a thousand changes and once in a
        /// minute.
        ///
        /// Adapters of one store should have the same: what one of them removes is gone for all.
        public var retention = Retention()
        /// How far back documents can be read as of a time; nil keeps the store's setting.
        ///
        /// By default, a store keeps no history. Once an adapter has opened it with an age, every writer of the store
        /// keeps the former states of changed and deleted documents for at least this long, and `asOf(_:)` of the
        /// storage client reads them. `.zero` stops keeping a history; the next commits remove it in steps. While the
        /// clock is wrong by years, the age is shortened by at most a quarter and at most one day, and by twice that if
        /// the clock was also wrong when the store was made.
        public var history: Duration?
        /// Encrypts the contents of the store.
        ///
        /// Bodies are sealed and bound to their document's path; receipts of batches with an id are sealed too. The
        /// paths of documents, times, revisions and **the values of fields in ordered indexes** stay readable in the
        /// database. An index declared `isEqualityOnly` holds keyed hashes. A store must be opened with the key it was
        /// created with, or after a rotation with the keys that its contents are under:
        /// ``PostgreSQLStorageAdapter/reseal(onProgress:)`` makes former ones unnecessary.
        public var sealing: (any ByteSealing)?
        /// Whether search definitions are accepted although ``sealing`` is set; their words are then readable in the
        /// database.
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
