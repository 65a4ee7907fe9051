#if Observability

internal import HTTPTypes
internal import Synchronization
internal import Tracing

/// A request in progress, which ends with its response body, with a failure, or when it is released.
final class OpenRequest: Sendable {
    struct Outcome: Sendable {
        var status = 0
        var bytes = 0
        var duration = Duration.zero
        /// The code of a failure, or the status from 500 (OpenTelemetry's `error.type`).
        var errorType: String?
    }

    private struct State {
        var outcome = Outcome()
        var hasEnded = false
    }

    private let span: any Span
    private let elapsed: @Sendable () -> Duration
    private let onEnd: @Sendable (Outcome) -> Void
    private let state = Mutex(State())

    init(
        span: any Span,
        start elapsed: @escaping @Sendable () -> Duration,
        onEnd: @escaping @Sendable (Outcome) -> Void
    ) {
        self.span = span
        self.elapsed = elapsed
        self.onEnd = onEnd
    }

    // A server that drops a body unread has lost the client.
    deinit { end("cut") }

    var status: Int {
        get { state.withLock { $0.outcome.status } }
        set { state.withLock { $0.outcome.status = newValue } }
    }

    /// Counts a piece of the response body; nil ends the request.
    func count(_ piece: ArraySlice<UInt8>?) {
        guard let piece else { return end(nil) }
        state.withLock { $0.outcome.bytes += piece.count }
    }

    /// Ends the request; later calls have no effect.
    func end(_ failure: String?) {
        let ended = state.withLock { state -> Outcome? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            state.outcome.duration = elapsed()
            let status = state.outcome.status
            state.outcome.errorType = failure ?? (status >= 500 ? "\(status)" : nil)
            return state.outcome
        }
        guard let ended else { return }
        span.attributes["http.response.status_code"] = ended.status
        if let type = ended.errorType {
            span.attributes["error.type"] = type
            span.setStatus(SpanStatus(code: .error))
        }
        span.end()
        onEnd(ended)
    }
}

struct HTTPFieldsExtractor: Extractor {
    func extract(key: String, from fields: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { fields[$0] }
    }
}

#endif
