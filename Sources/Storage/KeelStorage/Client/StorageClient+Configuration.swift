public import KeelCore
public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// The settings of a client.
    public struct Configuration: Sendable {
        /// The indexes that the app's queries need.
        public var schema: StorageSchema

        /// Whether the client refuses queries that no declared index serves.
        ///
        /// A refused query throws `StorageError/Code/indexRequired` with a message that names the index. Use this in
        /// tests and development to find missing indexes.
        public var isStrict = false

        /// Called after a query that scanned a collection; the plan's `QueryPlan/suggestion` is the index that would
        /// serve it.
        public var onFullScan: (@Sendable (DocumentQuery, QueryPlan) -> Void)?

        /// The retry policy of transactions after a conflict.
        public var transactions = RetryPolicy(
            attempts: 5,
            baseDelay: .milliseconds(10),
            maximumDelay: .seconds(1)
        )

        /// The interval at which listeners poll an adapter without a change log.
        public var pollInterval: Duration = .seconds(2)

        /// The time limit of one call, including its retries and a transaction's body; nil for none.
        ///
        /// A call that exceeds the limit throws `StorageError/Code/timeout`, and the error's `StorageError/effect` says
        /// whether a write may have been applied. A local store completes a write that it has started to apply and
        /// returns its receipt. To set a limit for single calls, use ``StorageClient/limited(to:)``.
        public var timeLimit: Duration?

        /// The principal on whose behalf the client acts, for stores with access rules; nil for the app itself.
        public var principal: StoragePrincipal?

        /// The clock for pauses and time limits.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Returns the id of a document that is added without an id.
        ///
        /// The default is a random id of 20 letters and digits.
        public var makeID: @Sendable () -> String = { DocumentPath.randomID() }

        /// Creates settings.
        public init(schema: StorageSchema = StorageSchema()) { self.schema = schema }
    }
}

extension StorageClient {
    /// Returns this client with a time limit for each call.
    ///
    /// ```swift
    /// let found = try await storage.limited(to: .seconds(2)).queryDocuments(query)
    /// ```
    ///
    /// The limit replaces ``Configuration/timeLimit``, also in typed collections of the returned client. The copy is
    /// cheap: it shares connections and listeners. For a sequence of documents, the limit applies to each page; it does
    /// not apply to listeners.
    public func limited(to limit: Duration) -> StorageClient {
        var client = self
        client.configuration.timeLimit = limit
        return client
    }

    /// Returns a client that acts on behalf of a principal other than the app itself.
    ///
    /// Adapters with access rules find the principal in the `StorageContext` of each request, including those of
    /// listeners; Keel's own adapters have no rules. The returned client and its copies share this client's connections
    /// but have their own reader of the change log, so retain the client while the principal listens.
    public func acting(as principal: StoragePrincipal) -> StorageClient {
        var client = self
        client.configuration.principal = principal
        client.hub = ListenerHub(adapter: adapter, configuration: client.configuration)
        return client
    }

    /// The context of a call that begins now; nil if it has neither a time limit nor a principal.
    var context: StorageContext? {
        var context = StorageContext.current
        if let principal = configuration.principal { context = context.of(principal) }
        if let limit = configuration.timeLimit {
            context = context.limited(to: limit, on: configuration.clock)
        }
        return context.isUnlimited && context.principal == nil ? nil : context
    }
}
