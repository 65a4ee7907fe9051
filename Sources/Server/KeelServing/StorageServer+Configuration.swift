public import HTTPTypes
public import KeelStorage

extension StorageServer {
    /// The settings of a server.
    public struct Configuration: Sendable {
        /// The maximum size of a request body, and of a message over gRPC, in bytes; 16 MiB by default.
        public var maximumBodyBytes = 16 << 20

        /// The nesting limit of a request's JSON; 128 by default, of which a document takes up to 70.
        public var maximumJSONLevels = 128

        /// The maximum number of values in a request's JSON, a gRPC message or logs in protobuf, including arrays and
        /// objects; 2,000,000 by default.
        ///
        /// The shortest values take two bytes of JSON and fifty bytes of memory.
        public var maximumJSONValues = 2_000_000

        /// The maximum duration of one read of a query, an aggregation, the ids of collections, or ten or more
        /// documents; 60 seconds by default.
        ///
        /// After this time the read is canceled, and the request fails with `DEADLINE_EXCEEDED`; a reply in progress is
        /// cut off. Replies longer than a page take several reads. A read for a listener is repeated once, and then its
        /// target ends with `RESOURCE_EXHAUSTED`.
        public var readTimeout: Duration = .seconds(60)

        /// The maximum duration of a request for documents, including the reads of its reply; 10 minutes by default.
        ///
        /// After this time the request is canceled and fails with `DEADLINE_EXCEEDED`; a reply in progress is cut off
        /// at its next read. Over REST, the time begins when the body has been received. A client can set a shorter
        /// time in `X-Server-Timeout`, in seconds, or in `grpc-timeout`. Streams have no limit unless the client sets
        /// one; each commit of a Write stream has.
        public var requestTimeout: Duration = .seconds(600)

        /// The maximum time for which the store holds a state; 10 minutes by default.
        ///
        /// A store without a history holds states for long replies, for the first documents of listeners, and for
        /// read-only transactions. After this time an incomplete reply is cut off, and a transaction fails with
        /// `ABORTED`. A listener without all of its documents begins again once; then its stream ends with
        /// `UNAVAILABLE`, and clients open another one.
        public var maximumHoldTime: Duration = .seconds(600)

        /// The approximate size of the first page of a long reply, in bytes of documents.
        package var firstPageBytes = 16 << 20
        /// The approximate size of the following pages, in bytes of documents.
        package var pageBytes = 4 << 20
        /// The maximum size of a reply that cannot be read in pages, and of such a listener's documents, in bytes.
        package var mostBytesAtOnce = 64 << 20
        /// The maximum number of document names held in memory to divide a collection group.
        package var mostNames = 100_000

        /// The maximum number of change streams and waiting page requests together, and of streams of Firestore's
        /// Listen and Write methods together; 10,000 each by default.
        public var maximumListeners = 10_000

        /// The maximum number of such streams and waiting requests of one caller; nil, the default, allows nine tenths
        /// of ``maximumListeners``.
        ///
        /// A caller is a principal, or the connection of an anonymous caller: behind a proxy that joins connections,
        /// use ``authenticate``. An anonymous client with many connections counts as many callers: limit its
        /// connections in the server or a proxy. A stream above the limit is refused with `RESOURCE_EXHAUSTED`, and
        /// clients try again; a waiting request is answered at once.
        public var maximumListenersPerCaller: Int?

        /// The value of ``maximumListenersPerCaller``, or its default.
        var listenersPerCaller: Int {
            maximumListenersPerCaller ?? maximumListeners - maximumListeners / 10
        }

        /// The approximate maximum size of the data that waits for the clients of streams, in bytes; 256 MiB by
        /// default.
        ///
        /// The limit applies separately to change streams, to streams of Firestore's Listen method, and to the messages
        /// of WebChannel sessions.
        ///
        /// Above it, the change streams and the WebChannel sessions with the largest backlogs end, of the callers with
        /// most; their clients reconnect and continue from their position. Up to the same amount of changes may be in
        /// transmission to clients of change streams.
        ///
        /// For Listen streams, the limit applies to the changes that wait, or are kept until a query has been read, and
        /// to the documents of queries and the changes of resumed targets that are being sent. Above it, documents are
        /// read in small pages, and a stream that keeps more than 1 MiB of changes, or reads more than 1 MiB at once,
        /// ends with `UNAVAILABLE`. A query with a limit, which is read at once, may find up to half this size of
        /// documents, but always 8 MiB and never more than 64 MiB.
        ///
        /// One Listen stream holds up to an eighth of this size for its client, besides one larger result, and up to an
        /// eighth of changes that it keeps, or 2 MiB. Further targets of a slow client are read when it has taken the
        /// documents of others.
        ///
        /// All Listen streams of one caller together hold up to half of this size; above it, those that keep or read
        /// more than 1 MiB end with `UNAVAILABLE`. They take up to half of the eight reads of queries at a time, and of
        /// the four states that the store holds for streams. See ``maximumListenersPerCaller`` for what a caller is.
        public var maximumBacklogBytes = 256 << 20

        /// The maximum number of recorded transactions; 10,000 by default.
        ///
        /// Above this number, the least recently used transactions of the callers with most are evicted; see
        /// ``maximumListenersPerCaller`` for what a caller is. A store whose servers share transactions has a limit of
        /// its own.
        public var maximumTransactions = 10_000

        /// The maximum number of reads of a transaction; 10,000 by default.
        ///
        /// Each document, and each query in addition to its documents, is a read. With more, the transaction ends, and
        /// the request fails with `INVALID_ARGUMENT`. So does a commit that names more reads itself, as those of Keel's
        /// clients do; the documents that its queries found are not counted.
        public var maximumReadsPerTransaction = 10_000

        /// The maximum number of recorded reads of all transactions together; 1,000,000 by default.
        ///
        /// Above this number, the least recently used transactions with more than an equal share of reads are evicted,
        /// of callers with more than an equal share, and then others. A store whose servers share transactions has a
        /// limit of its own.
        public var maximumReads = 1_000_000

        /// The time after its start for which a transaction can be committed; 270 seconds by default.
        public var transactionLifetime: Duration = .seconds(270)

        /// The time after its last use for which a transaction can be committed; 60 seconds by default.
        public var transactionIdleTime: Duration = .seconds(60)

        /// The allowed hosts, in addition to the loopback names, which are always allowed.
        ///
        /// A request for any other host is refused with status 403, as is one with an `Origin` of any other host,
        /// unless ``allowedOrigins`` contains it. Without this check, a web page could point a host name of its own to
        /// this machine, and let its visitor's browser send requests here. The loopback names are `localhost`,
        /// 127.0.0.0/8 and `[::1]`. An entry is a host as in the `Host` field, for any port or for the given one:
        /// `keel.example.org`, `10.0.0.5:8080`.
        public var allowedAuthorities: Set<String> = []

        /// The origins of web pages that may use the server, in addition to those of the allowed hosts.
        ///
        /// An entry is an origin as in the `Origin` field (RFC 6454): `https://app.example.org`. Pages that were loaded
        /// from the same machine may always use the server.
        public var allowedOrigins: Set<String> = []

        /// Returns the principal of a request by its head; nil, the default, makes every caller anonymous.
        ///
        /// The closure is called before the body of a request is read. For a stream it is called once, at its start,
        /// and the stream continues after the caller's credentials have expired. If the closure returns nil, the caller
        /// is anonymous and its request is served. **Adapters cannot distinguish such a caller from the app itself:**
        /// if one of them has access rules, return a principal for anonymous callers, too.
        ///
        /// To refuse a request, the closure throws `StorageError/Code/unauthenticated`: the client receives status 401,
        /// or `UNAUTHENTICATED` over gRPC, with the message of the error. Other codes have their usual status.
        ///
        /// Requests to `/health`, and those of OPTIONS, which browsers send without credentials, are not authenticated.
        ///
        /// All requests of a WebChannel session must have the id of the principal that opened it; others are refused
        /// with status 403. Web pages send `Authorization` only in the body of the first request. The server reads such
        /// a body first, up to 1 MiB of it, and calls the closure with this field for each request of the session that
        /// has no `Authorization` of its own. Whoever knows the id of such a session can use it: keep the id, `SID` in
        /// the URLs, out of logs.
        ///
        /// Adapters find the principal in `StorageContext/current` while they serve the request, streams included. The
        /// changes that all streams share, and the server's own records, are read without a principal: access rules of
        /// an adapter must allow this, and a listener receives later changes of all documents in its target. If they do
        /// not allow it, streams end after about half a minute, and clients open them again.
        public var authenticate:
            (@Sendable (HTTPRequest) async throws(StorageError) -> StoragePrincipal?)?

        /// The maximum duration of a call of ``authenticate``; 30 seconds by default.
        ///
        /// After this time the call is canceled, and the request fails with `UNAVAILABLE`, even if the call ignores its
        /// cancellation.
        public var authenticationTimeout: Duration = .seconds(30)

        /// Returns whether a principal may listen to a target of a Listen stream; nil, the default, allows all.
        var permission:
            (@Sendable (ListenTarget.Content, StoragePrincipal?) async -> ListenPermission)?

        /// The name of this server among those of a store, of letters and digits; empty, the default, for none.
        ///
        /// All requests of a WebChannel session of a web page must reach the server that opened it. The id of the
        /// session begins with the name and a hyphen, so that a load balancer can find that server.
        public var serverName = ""

        /// Whether clients may delete all documents with `DELETE /emulator/v1/projects/…/databases/…/documents`, as
        /// tests do with Google's emulator; false by default.
        public var allowsClearing = false

        /// The declared indexes, if queries are refused without one as on Google's server; nil, the default, refuses
        /// none.
        ///
        /// Google's server has an index of each single field for queries on one collection. Queries that need another
        /// index fail with `FAILED_PRECONDITION` and the definition to declare. To let the store use these indexes,
        /// pass them to `StorageAdapter.prepare(_:)`, too.
        public var compositeIndexes: [IndexDefinition]?

        /// The collections for logs and analytics that clients send; nil, the default, accepts none.
        public var ingest: Ingest?

        /// Returns the reply to `GET /metrics`, in Prometheus's text format; nil, the default, for none.
        public var metrics: (@Sendable () async -> String)?

        /// The clock that measures time limits.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Returns the current time: the read time in replies if the store reports none, and the time at which
        /// analytics records are received.
        public var now: @Sendable () -> Timestamp = { .now() }

        /// Returns a new id for a document or log record without one, a transaction, a Write stream, or a session of a
        /// web page.
        ///
        /// The ids must be unpredictable: whoever guesses the id of a transaction or session can use it.
        public var makeID: @Sendable () -> String = { DocumentPath.randomID() }

        /// Creates the default settings.
        public init() {}
    }
}

/// The collections in which a ``StorageServer`` stores received logs and analytics.
public struct Ingest: Sendable, Hashable {
    /// The collection of log records; nil accepts none.
    ///
    /// Clients send OTLP over HTTP, in JSON or protobuf, to `/v1/logs`.
    public var logs: CollectionPath?
    /// The collection of analytics records; nil accepts none.
    ///
    /// Clients send batches in the form of `Documentation/Protocols/AnalyticsIngest.md` to `/v1/analytics/batch`.
    public var analytics: CollectionPath?

    /// Creates a selection of collections.
    public init(logs: CollectionPath? = "logs", analytics: CollectionPath? = "analytics") {
        self.logs = logs
        self.analytics = analytics
    }
}
