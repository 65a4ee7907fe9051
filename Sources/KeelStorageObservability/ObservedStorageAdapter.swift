public import KeelStorageAdapting

#if Observability

internal import KeelCore
public import Logging
public import Metrics
public import Tracing

/// An adapter that logs, measures and traces the calls it hands on.
///
/// | what | where |
/// |---|---|
/// | log | `debug` on success, `warning` on failure, `trace` for an empty page of changes |
/// | `keel_storage_duration` | timer by `store`, `operation`, `collection` |
/// | `keel_storage_errors` | counter by `store`, `operation`, `code` |
/// | `keel_storage_documents_read`, `…_written` | counters by `store`, `collection` |
/// | span | one a call, with OpenTelemetry's `db.*` attributes and `error.type` |
///
/// Ids of documents may name people, so none leaves the process: a collection is written with `*`
/// in place of each id on its path (`users/*/favourites`), and errors appear by code and effect.
/// That also keeps the metrics few. Where messages and causes are wanted, as in development, ask for
/// them with `includesMessages`. Fields and values never appear.
///
/// A request for changes lasts as long as it waits, so read its timer apart. A cancelled call
/// counts as an error by its code and is logged at `debug`, since nobody waits for it. Place it
/// outside of retries, so that only the outcome shows, or inside, to see each attempt.
public struct ObservedStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    private let upstream: Upstream
    private let observer: StorageObserver

    /// Creates the decorator; `adapter.observed(label:)` is the usual way.
    ///
    /// - Parameters:
    ///   - upstream: The adapter whose calls are observed.
    ///   - label: What to call the store; a dimension of the metrics, `db.namespace` of the spans.
    ///   - logger: Where to log; nil is a logger called `keel.storage`.
    ///   - metrics: Where to measure; nil is swift-metrics' current factory at this moment.
    ///   - tracer: Where to trace; nil is the tracer that is current at each call.
    ///   - clock: The clock that durations are measured on.
    ///   - includesMessages: Whether logs and spans have errors' messages, which may name documents.
    public init(
        _ upstream: Upstream,
        label: String,
        logger: Logger? = nil,
        metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        includesMessages: Bool = false
    ) {
        self.upstream = upstream
        observer = StorageObserver(
            label: label,
            logger: logger ?? Logger(label: "keel.storage"),
            metrics: StorageMetrics(store: label, factory: metrics ?? MetricsSystem.factory),
            tracer: tracer,
            clock: clock,
            includesMessages: includesMessages
        )
    }

    public var capabilities: StorageCapabilities { upstream.capabilities }

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
    ///   - label: What to call the store; a dimension of the metrics, `db.namespace` of the spans.
    ///   - logger: Where to log; nil is a logger called `keel.storage`.
    ///   - metrics: Where to measure; nil is swift-metrics' current factory at this moment.
    ///   - tracer: Where to trace; nil is the tracer that is current at each call.
    ///   - clock: The clock that durations are measured on.
    ///   - includesMessages: Whether logs and spans have errors' messages, which may name documents.
    /// - Returns: The decorated adapter.
    public func observed(
        label: String = "storage",
        logger: Logger? = nil,
        metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        includesMessages: Bool = false
    ) -> ObservedStorageAdapter<Self> {
        ObservedStorageAdapter(
            self,
            label: label,
            logger: logger,
            metrics: metrics,
            tracer: tracer,
            clock: clock,
            includesMessages: includesMessages
        )
    }
}

#else

/// An adapter that logs, measures and traces the calls it hands on.
@available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
public struct ObservedStorageAdapter<Upstream: StorageAdapter>: Sendable {}

extension StorageAdapter {
    /// Logs, measures and traces calls.
    @available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
    public func observed(label: String = "storage") -> Self { self }
}

#endif
