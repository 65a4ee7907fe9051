public import KeelStorage

extension StorageServer {
    /// The limits of a server, and whom it answers.
    public struct Configuration: Sendable {
        /// The most bytes that the body of a request may have; 16 MiB.
        public var mostBodyBytes = 16 << 20

        /// How deeply the JSON of a request may nest; 128, of which a document takes up to 70.
        public var mostJSONLevels = 128

        /// The most values that the JSON of a request may have, arrays and objects included; 2,000,000.
        ///
        /// The shortest take two bytes of a body, and fifty of memory.
        public var mostJSONValues = 2_000_000

        /// How long the store may take for one read of a query, an aggregation or many documents; 60
        /// seconds.
        ///
        /// The read is cancelled then, and the request answered with `DEADLINE_EXCEEDED`. A reply that
        /// is longer than a page is read in several.
        public var longestRead: Duration = .seconds(60)

        /// How long one request for documents may take, its reply included; 10 minutes.
        ///
        /// What it does then is cancelled, and it is answered with `DEADLINE_EXCEEDED`; a reply that has
        /// begun is cut off. A client can set less in `X-Server-Timeout`, in seconds. Streams of changes
        /// have no limit.
        public var longestRequest: Duration = .seconds(600)

        /// How long the store holds one state at most, for a long reply or a transaction that only reads; 10
        /// minutes.
        ///
        /// Only a store without a history has to hold it. A reply that is not complete by then is cut off.
        public var longestMoment: Duration = .seconds(600)

        /// About how many bytes of documents a long reply reads at first, all of one moment.
        package var firstPageBytes = 16 << 20
        /// About how many bytes of documents it then reads at once.
        package var pageBytes = 4 << 20
        /// The most bytes of documents that a reply may have which cannot be read in parts.
        package var mostBytesAtOnce = 64 << 20
        /// The most names of documents that are held to divide a collection group.
        package var mostNames = 100_000

        /// The most streams of changes at the same time; 10,000.
        public var mostListeners = 10_000

        /// About how many bytes of changes may wait for all streams together; 256 MiB.
        ///
        /// Beyond that, the streams that are read most slowly end; their clients come back and go on where
        /// they were. About as many bytes may be on their way to clients.
        public var mostWaitingBytes = 256 << 20

        /// The most transactions that are remembered; 10,000.
        ///
        /// One more pushes out the one that has not been used for the longest time.
        public var mostTransactions = 10_000

        /// The most documents that one transaction may read; 10,000.
        public var mostReadsOfTransaction = 10_000

        /// The most documents read that are remembered over all transactions; 1,000,000.
        public var mostReads = 1_000_000

        /// How long after its beginning a transaction can be committed; 270 seconds.
        public var transactionLifetime: Duration = .seconds(270)

        /// How long after its last use a transaction can be committed; 60 seconds.
        public var transactionIdleTime: Duration = .seconds(60)

        /// The hosts under which the server is reached, beside the names of the machine itself.
        ///
        /// A request for another host is refused with status 403, and so is one whose `Origin`
        /// names another: a web page can let a name of its own point to this machine, and have its
        /// visitor's browser send requests here. `localhost`, 127.0.0.0/8 and `[::1]` are always
        /// answered. An entry is a host as it stands in the `Host` field, for any port, or for the
        /// one that it names: `keel.example.org`, `10.0.0.5:8080`.
        public var allowedAuthorities: Set<String> = []

        /// Where logs and analytics are kept that are sent to the server; nil, the usual, takes none.
        public var ingest: Ingest?

        /// The clock that the ages of transactions are measured on.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Returns the current time, which replies name as the time of a read where the store tells none of its own.
        public var now: @Sendable () -> Timestamp = { .now() }

        /// Makes the ids of documents that are created without one, and of transactions.
        ///
        /// Whoever can guess the id of a transaction can commit it.
        public var makeID: @Sendable () -> String = { DocumentPath.randomID() }

        /// Creates the usual settings.
        public init() {}
    }
}
