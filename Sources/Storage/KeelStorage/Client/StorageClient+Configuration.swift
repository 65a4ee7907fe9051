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
        /// A refused query throws `StorageError/Code/indexRequired`, whose message names the index.
        public var isStrict = false

        /// Called after a query that scanned collections, with the index that would serve it as `QueryPlan/suggestion`.
        ///
        /// It is not called if no index can serve the query.
        public var onFullScan: (@Sendable (DocumentQuery, QueryPlan) -> Void)?

        /// The retry policy of transactions and `deleteAll` after a conflict; five attempts by default.
        public var transactions = RetryPolicy(
            attempts: 5,
            baseDelay: .milliseconds(10),
            maximumDelay: .seconds(1)
        )

        /// The interval at which listeners poll an adapter that offers neither a change log nor
        /// `StorageCapabilities/queryChanges`.
        public var pollInterval: Duration = .seconds(2)

        /// The time limit of one call, including its retries; nil for none.
        ///
        /// A call that exceeds the limit throws `StorageError/Code/timeout`, and the error's `StorageError/effect` says
        /// whether a write may have been applied. A local store completes a write that it has started to apply and
        /// returns its receipt.
        ///
        /// The reads and the commit of a transaction share one limit, which does not interrupt the body. A sequence of
        /// documents has the limit for each page. Listeners have no limit.
        public var timeLimit: Duration?

        /// The principal on whose behalf the client acts; nil for the app itself.
        public var principal: StoragePrincipal?

        /// The clock for pauses and time limits.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Returns a new id for an added document; by default, 20 random letters and digits.
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
    /// The limit replaces ``Configuration/timeLimit``. The copy shares connections and listeners.
    public func limited(to limit: Duration) -> StorageClient {
        var client = self
        client.configuration.timeLimit = limit
        return client
    }

    /// Returns a client that acts on behalf of a principal.
    ///
    /// Adapters find the principal in the `StorageContext` of each request, including those of listeners. The returned
    /// client shares this client's connections, but has its own reader of the change log: use one client for all
    /// listeners of a principal.
    public func acting(as principal: StoragePrincipal) -> StorageClient {
        var client = self
        client.configuration.principal = principal
        client.hub = ListenerHub(adapter: adapter, configuration: client.configuration)
        return client
    }

    /// The context of a call that begins now; nil without a limit and a principal.
    var context: StorageContext? {
        var context = StorageContext.current
        if let principal = configuration.principal { context = context.of(principal) }
        if let limit = configuration.timeLimit {
            context = context.limited(to: limit, on: configuration.clock)
        }
        return context.isUnlimited && context.principal == nil ? nil : context
    }
}
