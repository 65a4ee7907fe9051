public import KeelHTTP

#if Observability

internal import HTTPTypes
public import KeelCore
public import Logging
public import Metrics
internal import Synchronization
public import Tracing

/// A transport that logs, measures and traces its exchanges.
///
/// Use it for a transport without a client, or below a client's layers. To observe a client, including its retries, use
/// `observe(logger:metrics:tracer:redactor:)` of its configuration.
public struct ObservedHTTPTransport<Upstream: HTTPTransport>: HTTPTransport {
    fileprivate let upstream: Upstream
    fileprivate let observers: [any HTTPEventObserver]
    fileprivate let tracing: HTTPTracing
    fileprivate let clock: any Clock<Duration>

    public var features: HTTPTransportFeatures { upstream.features }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let finishing = FinishingObserver(observers)
        var observed = call
        observed.recorder = HTTPEventRecorder(
            [finishing, ForwardingObserver(call: call)],
            clock: clock
        )
        observed.record(.started(call.head))
        let exchange = HTTPNext { [upstream] call async throws(TransportError) in
            try await upstream.send(call)
        }
        let observation = HTTPNext { call async throws(TransportError) in
            try await ExchangeObservation().intercept(call, next: exchange)
        }
        return try await tracing.intercept(observed, next: observation)
    }

    public func shutdown() async { await upstream.shutdown() }
}

extension ObservedHTTPTransport: LayeringTransport where Upstream: LayeringTransport {
    package var clientLayers: [any HTTPMiddleware] { upstream.clientLayers }
}

/// Adds the end of a call to the events of its only exchange.
private final class FinishingObserver: HTTPEventObserver {
    private let observers: [any HTTPEventObserver]
    private let status = Mutex(0)

    init(_ observers: [any HTTPEventObserver]) { self.observers = observers }

    func observe(_ event: HTTPEvent) {
        pass(event)
        switch event.kind {
        case .received(let head, _): status.withLock { $0 = head.status.code }
        case .receivedBody, .droppedBody:
            pass(event, as: .succeeded(status: status.withLock { $0 }))
        case .attemptFailed(let error): pass(event, as: .failed(error))
        default: break
        }
    }

    private func pass(_ event: HTTPEvent, as kind: HTTPEvent.Kind? = nil) {
        var event = event
        event.kind = kind ?? event.kind
        for observer in observers { observer.observe(event) }
    }
}

private struct ForwardingObserver: HTTPEventObserver {
    let call: HTTPCall

    func observe(_ event: HTTPEvent) {
        switch event.kind {
        case .entered, .connected, .sentHead, .sentBody: call.record(event.kind)
        default: break
        }
    }
}

extension HTTPTransport {
    /// Logs, measures and traces exchanges; see ``ObservedHTTPTransport``.
    ///
    /// - Parameters:
    ///   - logger: The logger; nil is a logger called `keel.http`.
    ///   - metrics: The metrics factory; nil is swift-metrics' current factory.
    ///   - tracer: The tracer; nil is the current tracer at each call.
    ///   - redactor: Removes secrets.
    ///   - clock: The clock for durations.
    /// - Returns: The decorated transport.
    public func observed(
        logger: Logger? = nil,
        metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil,
        redactor: Redactor = .standard,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> ObservedHTTPTransport<Self> {
        ObservedHTTPTransport(
            upstream: self,
            observers: [HTTPLogging(logger, redactor: redactor), HTTPMetrics(metrics)],
            tracing: HTTPTracing(.attempt, tracer: tracer, redactor: redactor),
            clock: clock
        )
    }
}

extension NetworkClient.Configuration {
    /// Logs, measures and traces all calls of a client.
    ///
    /// Call it after adding all other layers: it adds observers, and spans around and below them. The parameters are
    /// those of a transport's `observed`.
    public mutating func observe(
        logger: Logger? = nil,
        metrics: (any MetricsFactory)? = nil,
        tracer: (any Tracer)? = nil,
        redactor: Redactor = .standard
    ) {
        observers.append(HTTPLogging(logger, redactor: redactor))
        observers.append(HTTPMetrics(metrics))
        middleware.insert(HTTPTracing(.call, tracer: tracer, redactor: redactor), at: 0)
        attemptMiddleware.append(HTTPTracing(.attempt, tracer: tracer, redactor: redactor))
    }
}

#else

/// A transport that logs, measures and traces its exchanges.
@available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
public struct ObservedHTTPTransport<Upstream: HTTPTransport>: Sendable {}

/// An observer that logs calls.
@available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
public struct HTTPLogging: Sendable {}

/// An observer that measures calls.
@available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
public struct HTTPMetrics: Sendable {}

/// A middleware that traces calls.
@available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
public struct HTTPTracing: Sendable {}

extension HTTPTransport {
    /// Logs, measures and traces exchanges.
    @available(*, unavailable, message: "Enable the 'Observability' trait of the keel package.")
    public func observed() -> Self { self }
}

#endif
