public import KeelStorage

/// Where a ``StorageServer`` keeps the logs and the analytics that are sent to it, as documents.
public struct Ingest: Sendable, Hashable {
    /// The collection of log records; nil takes none.
    ///
    /// They come as OTLP over HTTP, in JSON or protobuf, to `/v1/logs`.
    public var logs: CollectionPath?
    /// The collection of analytics records; nil takes none.
    ///
    /// They come to `/v1/analytics/batch` in the form of
    /// `Documentation/Protocols/AnalyticsIngest.md`.
    public var analytics: CollectionPath?

    /// Creates a choice of collections.
    public init(logs: CollectionPath? = "logs", analytics: CollectionPath? = "analytics") {
        self.logs = logs
        self.analytics = analytics
    }
}
