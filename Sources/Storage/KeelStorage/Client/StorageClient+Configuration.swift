public import KeelCore
public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// The settings of a client.
    public struct Configuration: Sendable {
        /// The indexes that the app's queries need.
        public var schema: StorageSchema

        /// Whether a query that no declared index serves is refused.
        ///
        /// The refusal has the code `StorageError/Code/indexRequired` and names the index. Useful in tests and
        /// development, to notice a forgotten index.
        public var isStrict = false

        /// Called after a query that read every document of a collection; the plan's `QueryPlan/suggestion` is the
        /// index that would serve it.
        public var onFullScan: (@Sendable (DocumentQuery, QueryPlan) -> Void)?

        /// The retry policy of transactions after a conflict.
        public var transactions = RetryPolicy(
            attempts: 5,
            baseDelay: .milliseconds(10),
            maximumDelay: .seconds(1)
        )

        /// The time between two reads of a listener on an adapter that has no change log.
        public var pollInterval: Duration = .seconds(2)

        /// The time limit of one call, including its retries and a transaction's body; nil for none.
        ///
        /// A call that exceeds it throws `StorageError/Code/timeout`; the error's `StorageError/effect` says whether
        /// a write may have been applied. A local store completes a write that it has begun to apply, and returns its
        /// receipt. ``StorageClient/limited(to:)`` sets the limit for single calls.
        public var timeLimit: Duration?

        /// The principal on whose behalf the client calls, for stores with access rules; nil for the app itself.
        public var principal: StoragePrincipal?

        /// The clock for pauses and time limits.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Returns the id of a document that is added without one.
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
    /// The limit replaces ``Configuration/timeLimit``, including for typed collections of the returned client. The
    /// copy is cheap: it shares connections and listeners. For a sequence of documents, the limit applies to each
    /// page; listeners have none.
    public func limited(to limit: Duration) -> StorageClient {
        var client = self
        client.configuration.timeLimit = limit
        return client
    }

    /// Returns this client for calls on behalf of a principal other than the app itself.
    ///
    /// Adapters find the principal in the `StorageContext` of every request, including those of listeners, and may have
    /// access rules; Keel's own have none. The client and its copies share connections with this one, but have their
    /// own reader of changes for their listeners, so keep the client while the principal listens.
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
