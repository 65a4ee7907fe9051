#if Observability

internal import Metrics
internal import Synchronization

/// The instruments of a factory, created once each.
///
/// Their number is bounded, like those of methods, routes and statuses.
final class ServingInstruments: Sendable {
    private struct Made {
        var timers: [String: Metrics.Timer] = [:]
        var meters: [String: Meter] = [:]
    }

    private let factory: any MetricsFactory
    private let made = Mutex(Made())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func duration(_ dimensions: [(String, String)]) -> Metrics.Timer {
        let key = dimensions.map(\.1).joined(separator: " ")
        return made.withLock { made in
            if let timer = made.timers[key] { return timer }
            let timer = Metrics.Timer(
                label: "http.server.request.duration",
                dimensions: dimensions,
                factory: factory
            )
            made.timers[key] = timer
            return timer
        }
    }

    func active(_ method: String) -> Meter {
        made.withLock { made in
            if let meter = made.meters[method] { return meter }
            let meter = Meter(
                label: "http.server.active_requests",
                dimensions: [("http.request.method", method)],
                factory: factory
            )
            made.meters[method] = meter
            return meter
        }
    }
}

#endif
