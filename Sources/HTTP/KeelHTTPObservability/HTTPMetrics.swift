#if Observability

public import KeelHTTP
public import Metrics
internal import KeelCore
internal import HTTPTypes
internal import Synchronization

/// An observer that measures calls under OpenTelemetry's semantic conventions for HTTP clients.
///
/// For each request sent, so once per attempt, redirect and hedge:
///
/// - `http.client.request.duration`, a timer, until the end of the body;
/// - `http.client.active_requests`, a meter;
/// - `http.client.request.body.size` and `http.client.response.body.size`, recorders of bytes.
///
/// For each call: `keel.http.client.call.duration`, a timer over attempts and pauses, and `keel.http.client.retries`, a
/// counter by reason. Dimensions are the method, the scheme, the server, the status, the version of HTTP and the
/// error's code: never a path, and at most ``serverLimit`` servers.
///
/// One instance may serve several clients.
public final class HTTPMetrics: HTTPEventObserver {
    /// The number of servers with their own dimensions; any others are measured as `_OTHER`.
    public static let serverLimit = 100

    private struct Key: Hashable {
        let call: HTTPCallID
        let attempt: Int
        let request: Int?

        init(_ event: HTTPEvent) {
            call = event.call
            attempt = event.attempt
            request = event.request
        }
    }

    private struct Exchange {
        let dimensions: [(String, String)]
        let startedAt: Duration
        var status: Int?
        var version: String?
    }

    private struct State {
        var exchanges: [Key: Exchange] = [:]
        var servers: Set<String> = []
    }

    private let instruments: InstrumentCache
    private let calls = OpenCalls()
    private let state = Mutex(State())

    /// Creates an observer; nil means swift-metrics' current factory.
    public init(_ factory: (any MetricsFactory)? = nil) {
        instruments = InstrumentCache(factory ?? MetricsSystem.factory)
    }

    public func observe(_ event: HTTPEvent) {
        switch event.kind {
        case .sending(let head): begin(head, event)
        case .sentBody(let bytes): recordSize("http.client.request.body.size", bytes, event)
        case .received(let head, let connection):
            state.withLock { state in
                state.exchanges[Key(event)]?.status = head.status.code
                state.exchanges[Key(event)]?.version = connection?.version
            }
        case .receivedBody(let bytes), .droppedBody(let bytes):
            recordSize("http.client.response.body.size", bytes, event)
            end(event, failure: nil)
        case .attemptFailed(let error): end(event, failure: error.code.name)
        case .retrying(_, let reason):
            instruments.counter("keel.http.client.retries", [("reason", reason)]).increment()
        default: break
        }
        guard let call = calls.add(event) else { return }
        var dimensions = [("http.request.method", call.method.boundedName)]
        dimensions += serverDimensions(call.authority)
        if case .answered(let status) = call.outcome {
            dimensions.append(("http.response.status_code", "\(status)"))
        }
        if let type = call.errorType { dimensions.append(("error.type", type)) }
        instruments.timer("keel.http.client.call.duration", dimensions)
            .record(duration: call.duration)
    }

    private func begin(_ head: HTTPRequest, _ event: HTTPEvent) {
        let dimensions =
            [("http.request.method", head.method.boundedName)]
            + serverDimensions(String((head.authority ?? "").split(separator: "@").last ?? ""))
            + [("url.scheme", head.scheme ?? "http")]
        // An exchange whose end is never reported must not count as active forever.
        let forgotten = state.withLock { state in
            var forgotten: [Exchange] = []
            if state.exchanges.count >= 10_000 {
                forgotten = Array(state.exchanges.values)
                state.exchanges = [:]
            }
            let before = state.exchanges.updateValue(
                Exchange(dimensions: dimensions, startedAt: event.elapsed),
                forKey: Key(event)
            )
            return forgotten + (before.map { [$0] } ?? [])
        }
        for exchange in forgotten {
            instruments.meter("http.client.active_requests", exchange.dimensions).decrement()
        }
        instruments.meter("http.client.active_requests", dimensions).increment()
    }

    private func end(_ event: HTTPEvent, failure: String?) {
        let exchange = state.withLock { $0.exchanges.removeValue(forKey: Key(event)) }
        guard let exchange else { return }
        instruments.meter("http.client.active_requests", exchange.dimensions).decrement()
        var dimensions = exchange.dimensions
        if let status = exchange.status {
            dimensions.append(("http.response.status_code", "\(status)"))
        }
        if let version = exchange.version {
            dimensions.append(("network.protocol.version", Self.number(of: version)))
        }
        let refusal = exchange.status.flatMap { $0 >= 400 ? "\($0)" : nil }
        if let type = failure ?? refusal { dimensions.append(("error.type", type)) }
        instruments.timer("http.client.request.duration", dimensions)
            .record(duration: event.elapsed - exchange.startedAt)
    }

    private func recordSize(_ label: String, _ bytes: Int64, _ event: HTTPEvent) {
        guard let exchange = state.withLock({ $0.exchanges[Key(event)] }) else { return }
        instruments.recorder(label, exchange.dimensions).record(bytes)
    }

    private func serverDimensions(_ authority: String) -> [(String, String)] {
        let isKnown = state.withLock { state in
            state.servers.contains(authority)
                || state.servers.count < Self.serverLimit
                    && state.servers.insert(authority).inserted
        }
        let server = ServerAddress(isKnown ? authority : "_OTHER")
        return [("server.address", server.host), ("server.port", server.port ?? "")]
    }

    /// Returns `1.1` for `HTTP/1.1`, as the conventions require.
    static func number(of version: String) -> String {
        version.hasPrefix("HTTP/") ? String(version.dropFirst(5)) : version
    }
}

struct ServerAddress {
    let host: String
    let port: String?

    init(_ authority: String) {
        let colon = authority.lastIndex(of: ":")
        if let colon, authority[colon...].dropFirst().allSatisfy(\.isNumber),
            !authority[..<colon].contains(":") || authority[..<colon].hasSuffix("]")
        {
            host = String(authority[..<colon])
            port = String(authority[authority.index(after: colon)...])
        } else {
            host = authority
            port = nil
        }
    }
}

/// The instruments of a factory, each created once.
final class InstrumentCache: Sendable {
    private struct Made {
        var timers: [String: Metrics.Timer] = [:]
        var counters: [String: Counter] = [:]
        var meters: [String: Meter] = [:]
        var recorders: [String: Recorder] = [:]
    }

    private let factory: any MetricsFactory
    private let made = Mutex(Made())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func timer(_ label: String, _ dimensions: [(String, String)]) -> Metrics.Timer {
        find(\.timers, label, dimensions) { factory in
            Metrics.Timer(label: label, dimensions: dimensions, factory: factory)
        }
    }

    func counter(_ label: String, _ dimensions: [(String, String)]) -> Counter {
        find(\.counters, label, dimensions) { factory in
            Counter(label: label, dimensions: dimensions, factory: factory)
        }
    }

    func meter(_ label: String, _ dimensions: [(String, String)]) -> Meter {
        find(\.meters, label, dimensions) { factory in
            Meter(label: label, dimensions: dimensions, factory: factory)
        }
    }

    func recorder(_ label: String, _ dimensions: [(String, String)]) -> Recorder {
        find(\.recorders, label, dimensions) { factory in
            Recorder(label: label, dimensions: dimensions, factory: factory)
        }
    }

    private func find<Instrument: Sendable>(
        _ list: WritableKeyPath<Made, [String: Instrument]>,
        _ label: String,
        _ dimensions: [(String, String)],
        make: (any MetricsFactory) -> Instrument
    ) -> Instrument {
        let key = ([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " ")
        return made.withLock { made in
            if let known = made[keyPath: list][key] { return known }
            let instrument = make(factory)
            made[keyPath: list][key] = instrument
            return instrument
        }
    }
}

#endif
