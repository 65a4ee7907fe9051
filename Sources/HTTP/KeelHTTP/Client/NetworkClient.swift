import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A client of a web service, which builds requests from endpoints, sends them and decodes the responses.
///
/// ```swift
/// var configuration = NetworkClient.Configuration(baseURL: address)
/// configuration.json = .snakeCase
/// let client = NetworkClient(configuration, transport: transport)
/// let restaurant = try await client.request(GetRestaurant(id: "42"))
/// ```
///
/// Requests are encoded and responses decoded off the caller's actor. Copies of a client share the transport, which its
/// creator shuts down.
public struct NetworkClient: Sendable {
    /// The settings for all calls.
    public var configuration: Configuration { assembly.configuration }

    /// The transport that carries the requests.
    public var transport: any HTTPTransport { assembly.transport }

    /// The validated base URL, or the error that every call throws.
    package var base: Result<BaseAddress, NetworkError> { assembly.base }

    var codings: BodyCodings { assembly.codings }

    private let assembly: Assembly

    /// Creates a client.
    ///
    /// - Precondition: A transport for a configuration with ``Configuration/pins`` declares
    ///   ``HTTPTransportFeatures/pinning``.
    public init(_ configuration: Configuration, transport: any HTTPTransport) {
        precondition(
            configuration.pins == nil || transport.features.contains(.pinning),
            "This transport does not support pinning. Use one that does, or remove the pins."
        )
        assembly = Assembly(configuration, transport)
    }

    /// Creates a client with default settings.
    public init(baseURL: URL, transport: any HTTPTransport) {
        self.init(Configuration(baseURL: baseURL), transport: transport)
    }

    /// Sends a call built by the app through the layers and returns the reply, whatever its status.
    ///
    /// The head must have a scheme, an authority and a path. There is no total timeout, the client's
    /// ``Configuration/defaultHeaders`` and ``Configuration/timeouts`` do not apply, and ``Configuration/observers`` do
    /// not see the call. Options that the call does not set come from ``Configuration/options``; ``Configuration/pins``
    /// always apply. Dropping the body unread cancels the exchange.
    ///
    /// - Throws: ``TransportError``, with the phase that failed and whether the server may have acted on the request.
    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        var call = call
        call.options = options(for: call.options)
        return try await carryOut(call)
    }

    func carryOut(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            guard !Task.isCancelled else { throw TransportError(.cancelled, processed: .no) }
            return try await assembly.chain(call)
        } catch {
            throw error.located(in: call)
        }
    }

    /// Returns the client's options, overridden by `overrides`, overridden by the fixed options.
    func options(for overrides: HTTPCallOptions) -> HTTPCallOptions {
        var everything = configuration.options
        everything.merge(overrides)
        everything.merge(assembly.fixedOptions)
        if everything.signer != nil, everything.pin == nil { everything.pin = SessionPin() }
        return everything
    }

    private final class Assembly: Sendable {
        let configuration: Configuration
        let transport: any HTTPTransport
        let base: Result<BaseAddress, NetworkError>
        let codings: BodyCodings
        let timer: DeadlineTimer
        let chain: HTTPNext
        let fixedOptions: HTTPCallOptions
        /// Whether the transport and all layers keep deadlines, so that calls need no watch.
        let keepsDeadlines: Bool

        init(_ configuration: Configuration, _ transport: any HTTPTransport) {
            self.configuration = configuration
            self.transport = transport
            base = Result { () throws(NetworkError) in try BaseAddress(configuration.baseURL) }
            codings = BodyCodings(
                configuration.coding ?? configuration.json,
                json: configuration.json
            )
            timer = DeadlineTimer.on(configuration.clock)
            let layers = NetworkClient.layers(of: configuration, transport, timer)
            chain = transport.chain(layers)
            var options = HTTPCallOptions()
            if let pins = configuration.pins { options.pins = pins }
            if let signer = CallSigner(layers) { options.signer = signer }
            fixedOptions = options
            keepsDeadlines =
                transport is any DeadlineEnforcing
                && layers.allSatisfy { $0.waitsOnlyForNext || $0 is any DeadlineEnforcing }
        }
    }

    /// The layers of a client, outermost first.
    private static func layers(
        of configuration: Configuration,
        _ transport: any HTTPTransport,
        _ timer: DeadlineTimer
    ) -> [any HTTPMiddleware] {
        var layers = configuration.middleware
        if configuration.redirects != .never {
            layers.append(
                RedirectMiddleware(
                    configuration.redirects,
                    timer,
                    home: HTTPOrigin(configuration.baseURL),
                    homeFields: configuration.defaultHeaders
                )
            )
        }
        layers += configuration.hopMiddleware
        layers.append(RetryMiddleware(configuration.retry, configuration.clock, timer))
        layers.append(TransferMiddleware())
        layers += configuration.attemptMiddleware
        layers += (transport as? any LayeringTransport)?.clientLayers ?? []
        layers.append(StaleConnectionMiddleware(configuration.retry))
        layers.append(StallTimeoutMiddleware(clock: configuration.clock))
        if !configuration.observers.isEmpty { layers.append(ExchangeObservation()) }
        return layers
    }

    func endsAtDeadline(_ call: HTTPCall) -> Bool {
        assembly.keepsDeadlines && call.body.map { $0.bytes != nil } ?? true
    }

    func deadline(for call: HTTPCall, _ plan: RequestPlan) -> Deadline? {
        var limit = plan.timeout
        if limit == nil, !plan.isLongUpload, let usual = configuration.timeout {
            // The time to send a large body is not the server's fault.
            limit = usual + call.sendingTime
        }
        return limit.map { Deadline(in: $0, on: assembly.timer) }
    }

    func within<Value: Sendable>(
        _ deadline: Deadline?,
        _ call: HTTPCall,
        keepingLate isWhole: (Value) -> Bool = { _ in false },
        _ operation: @escaping @Sendable () async throws(TransportError) -> Value
    ) async throws(TransportError) -> Value {
        guard let deadline, !call.endsAtDeadline else { return try await operation() }
        return try await deadline.run(
            throwing: TransportError(.deadlineExceeded, url: call.redactedURL),
            keepingLate: isWhole,
            operation
        )
    }
}
