public import KeelStorageAdapting

#if Observability

internal import KeelCore
public import Logging
public import Metrics
public import Tracing

/// An adapter that logs, measures and traces calls.
///
/// | Output | Content |
/// |---|---|
/// | Log | `debug` on success and cancellation, `warning` on another failure, `trace` for an empty page of changes |
/// | `keel_storage_duration` | Timer by `store`, `operation`, `collection` |
/// | `keel_storage_errors` | Counter of failed calls and batches by `store`, `operation`, `code` |
/// | `keel_storage_documents_read`, `…_written` | Counters by `store`, `collection` |
/// | Span | One per call, with OpenTelemetry's `db.*` attributes and `error.type` |
///
/// Ids of documents may identify people, so a collection is written with `*` in place of each id in its path
/// (`users/*/favourites`), and errors are reported by code and effect. `includesMessages` adds the messages and causes
/// of errors. The adapter never reports fields and values of documents.
///
/// The duration of a request for changes includes its wait. A canceled call counts as an error with its code. Place the
/// adapter outside of retries to report only the outcome, or inside to report each attempt.
public struct ObservedStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    fileprivate let upstream: Upstream
    fileprivate let observer: StorageObserver

    public var capabilities: StorageCapabilities { upstream.capabilities }

    public var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await observer.observe(ObservedCall("prepare")) { () async throws(StorageError) in
            try await upstream.prepare(schema)
        } outcome: { _ in
            CallOutcome()
        }
    }

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await observer.observe(ObservedCall(request)) { () async throws(StorageError) in
            try await upstream.read(request)
        } outcome: { result in
            CallOutcome(read: result.payload.documentCount)
        }
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await observer.observe(ObservedCall(batches)) { () async throws(StorageError) in
            try await upstream.commit(batches)
        } outcome: { results in
            CallOutcome(results, of: batches)
        }
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await observer.observe(ObservedCall(request)) { () async throws(StorageError) in
            try await upstream.changes(request)
        } outcome: { page in
            CallOutcome(read: page.changes.count, isEmptyPage: page.changes.isEmpty)
        }
    }
}

extension StorageAdapter {
    /// Logs, measures and traces calls; see ``ObservedStorageAdapter``.
    ///
    /// - Parameters:
    ///   - label: The name of the store; a dimension of the metrics, `db.namespace` of the spans.
    ///   - logger: The logger; nil for one with the label `keel.storage`.
    ///   - metrics: The metrics factory; nil for swift-metrics' factory at the time of this call.
    ///   - tracer: The tracer; nil for the current one at each call.
    ///   - clock: The clock that measures durations.
    ///   - includesMessages: Whether logs and spans contain error messages, which may name documents.
    /// - Returns: The decorated adapter.
    public func observed(
        label: String = "storage",
        logger: Logger? = nil,
        metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        includesMessages: Bool = false
    ) -> ObservedStorageAdapter<Self> {
        let observer = StorageObserver(
            label: label,
            logger: logger ?? Logger(label: "keel.storage"),
            metrics: StorageMetrics(store: label, factory: metrics ?? MetricsSystem.factory),
            tracer: tracer,
            clock: clock,
            includesMessages: includesMessages
        )
        return ObservedStorageAdapter(upstream: self, observer: observer)
    }
}

#else

/// An adapter that logs, measures and traces calls.
@available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
public struct ObservedStorageAdapter<Upstream: StorageAdapter>: Sendable {}

extension StorageAdapter {
    /// Logs, measures and traces calls.
    @available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
    public func observed(label: String = "storage") -> Self { self }
}

#endif
