public import KeelStorage

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
