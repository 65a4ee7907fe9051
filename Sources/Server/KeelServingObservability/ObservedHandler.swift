public import KeelServing

#if Observability

internal import HTTPTypes
public import KeelHTTP
public import Logging
public import Metrics
public import Tracing

/// A handler that logs, measures and traces requests to another handler.
///
/// | what | where |
/// |---|---|
/// | log | `info` for replies, `error` from status 500, `debug` for health checks |
/// | `http.server.request.duration` | timer by method, route, status, `error.type` |
/// | `http.server.active_requests` | meter by method |
/// | span | one per request, of kind `server`, a child of the caller's span if the request has a `traceparent` |
///
/// Names follow OpenTelemetry's semantic conventions for HTTP servers. A request lasts until its response body ends,
/// fails or is released, so an event stream is one long request. Ids, queries, header fields and bodies are not
/// recorded.
public struct ObservedHandler<Upstream: ServingHandler>: ServingHandler {
    private let upstream: Upstream
    private let logger: Logger
    private let instruments: ServingInstruments
    private let tracer: (any Tracer)?
    private let clock: any Clock<Duration>

    /// Creates the decorator; `handler.observed()` is a shorthand.
    ///
    /// - Parameters:
    ///   - upstream: The handler whose requests are observed.
    ///   - logger: The logger; nil for a logger with the label `keel.serving`.
    ///   - metrics: The metrics factory; nil for the current factory of swift-metrics.
    ///   - tracer: The tracer; nil for the tracer that is current at each request.
    ///   - clock: The clock that measures durations.
    public init(
        _ upstream: Upstream,
        logger: Logger? = nil,
        metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.upstream = upstream
        self.logger = logger ?? Logger(label: "keel.serving")
        instruments = ServingInstruments(metrics ?? MetricsSystem.factory)
        self.tracer = tracer
        self.clock = clock
    }

    public func respond(to call: HTTPCall) async -> HTTPReply {
        let tracer: any Tracer = tracer ?? InstrumentationSystem.tracer
        let operation = ServedOperation(call.head)
        let method = call.head.method.boundedName
        var caller = InstrumentationContext.topLevel
        tracer.extract(call.head.headerFields, into: &caller, using: HTTPFieldsExtractor())
        let span = tracer.startAnySpan(
            "\(method) \(operation.route)",
            context: caller,
            ofKind: .server
        )
        span.attributes["http.request.method"] = method
        span.attributes["http.route"] = operation.route
        let request = OpenRequest(span: span, start: Self.stopwatch(clock)) { [self] outcome in
            finish(operation, method, outcome)
        }
        instruments.active(method).increment()
        var reply = await InstrumentationContext.withValue(span.context) {
            await upstream.respond(to: call)
        }
        request.status = reply.head.status.code
        // Servers do not read the body of a response that has none.
        guard Self.hasBody(reply.head.status, call.head.method) else {
            request.end(nil)
            return reply
        }
        let body = reply.body
        reply.body = body.mapReads { read async throws(TransportError) in
            do throws(TransportError) {
                let piece = try await read()
                request.count(piece)
                return piece
            } catch {
                request.end(error.code.name)
                throw error
            }
        }
        return reply
    }

    /// Whether a response has a body (RFC 9112, section 6.3).
    private static func hasBody(
        _ status: HTTPResponse.Status,
        _ method: HTTPRequest.Method
    ) -> Bool {
        method != .head && status != .noContent && status != .notModified
            && status.kind != .informational
    }

    private func finish(
        _ operation: ServedOperation,
        _ method: String,
        _ outcome: OpenRequest.Outcome
    ) {
        instruments.active(method).decrement()
        var dimensions = [
            ("http.request.method", method), ("http.route", operation.route),
            ("http.response.status_code", "\(outcome.status)"),
        ]
        if let type = outcome.errorType { dimensions.append(("error.type", type)) }
        instruments.duration(dimensions).record(duration: outcome.duration)
        let isHealth = operation.route == "/health" && outcome.status < 500
        var metadata: Logger.Metadata = [
            "http.operation": "\(operation.name)",
            "http.response.status_code": "\(outcome.status)",
            "http.response.body.size": "\(outcome.bytes)",
            "http.duration": "\(outcome.duration)",
        ]
        if let type = outcome.errorType { metadata["error.type"] = "\(type)" }
        logger.log(
            level: isHealth ? .debug : outcome.status >= 500 ? .error : .info,
            "HTTP request answered",
            metadata: metadata
        )
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension ServingHandler {
    /// Returns a handler that logs, measures and traces requests; see ``ObservedHandler`` and its initializer.
    public func observed(
        logger: Logger? = nil,
        metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> ObservedHandler<Self> {
        ObservedHandler(self, logger: logger, metrics: metrics, tracer: tracer, clock: clock)
    }
}

#else

/// A handler that logs, measures and traces requests to another handler.
@available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
public struct ObservedHandler<Upstream: ServingHandler>: Sendable {}

extension ServingHandler {
    /// Returns a handler that logs, measures and traces requests.
    @available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
    public func observed() -> Self { self }
}

#endif
