public import KeelCore
public import KeelDocuments

extension StorageClient {
    /// The settings of a client.
    public struct Configuration: Sendable {
        /// The indexes that the app's queries need.
        public var schema: StorageSchema

        /// Whether a query that no declared index serves is refused.
        ///
        /// The refusal has the code `StorageError/Code/indexRequired` and names the index. Good in
        /// tests and development, where a forgotten index should be noticed.
        public var isStrict = false

        /// Called when a query looked at every document of a collection, with the index that would
        /// serve it in the plan's `QueryPlan/suggestion`.
        public var onScan: (@Sendable (DocumentQuery, QueryPlan) -> Void)?

        /// How often and how patiently a transaction is tried again after a conflict.
        public var transactions = RetryPolicy(
            attempts: 5,
            baseDelay: .milliseconds(10),
            maximumDelay: .seconds(1)
        )

        /// How often a listener asks again on an adapter that has no change log.
        public var pollInterval: Duration = .seconds(2)

        /// How long one call may take, its repetitions and a transaction's body included; nil for any time.
        ///
        /// It ends with `StorageError/Code/timeout` then, whose `StorageError/effect` says of a write
        /// whether it may have been applied. A write that the store has begun to apply is completed and
        /// answered where the store is at hand. ``StorageClient/limited(to:)`` sets it for single calls.
        public var timeLimit: Duration?

        /// Who asks, for the rules of stores that have some; nil for the app itself.
        public var principal: StoragePrincipal?

        /// The clock that pauses and limits are measured on.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Makes the id of a document that is added without one.
        public var makeID: @Sendable () -> String = { DocumentPath.randomID() }

        /// Creates settings.
        public init(schema: StorageSchema = StorageSchema()) { self.schema = schema }
    }
}
