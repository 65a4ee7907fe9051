import KeelCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Calls a web service: makes requests from endpoints, carries them out, reads the answers.
///
/// ```swift
/// var configuration = NetworkClient.Configuration(baseURL: address)
/// configuration.json = .snakeCase
/// let client = NetworkClient(configuration, transport: transport)
/// let restaurant = try await client.request(GetRestaurant(id: "42"))
/// ```
///
/// - ``request(_:timeout:options:)`` takes any status from 200 to 299 and decodes the body; everything else is a
///   ``NetworkError``.
/// - ``response(to:timeout:options:)`` leaves the status and the body to the caller and reports only whether the
///   exchange took place.
/// - ``stream(_:timeoutCovers:timeout:options:)`` hands the body over as it arrives.
///
/// Requests are encoded and responses decoded off the caller's actor. A client is a value: copies
/// share the transport, and shutting that down is up to who made it.
public struct NetworkClient: Sendable {
    /// The settings of all calls.
    public var configuration: Configuration { assembly.configuration }

    /// The transport that carries the requests.
    public var transport: any HTTPTransport { assembly.transport }

    /// The checked base URL, or why no call can be made.
    var base: Result<BaseAddress, NetworkError> { assembly.base }

    private let assembly: Assembly

    /// Creates a client.
    public init(_ configuration: Configuration, transport: any HTTPTransport) {
        precondition(
            configuration.pins == nil || transport.features.contains(.pinning),
            "This transport cannot check pins; use one that can, or take the pins away."
        )
        assembly = Assembly(configuration, transport)
    }

    /// Creates a client with the usual limits.
    public init(baseURL: URL, transport: any HTTPTransport) {
        self.init(Configuration(baseURL: baseURL), transport: transport)
    }

    /// Sends a call of one's own making through the middleware, without any total limit.
    ///
    /// The head must have a scheme, an authority and a path. Status and body are left to the
    /// caller; dropping the body unread cancels the exchange.
    ///
    /// The call gets the client's ``Configuration/options`` where it has none of its own, and the
    /// client's ``Configuration/pins``. Its header fields and its limits inside the exchange stay as
    /// they are.
    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        var call = call
        call.options = options(for: call.options)
        return try await carryOut(call)
    }

    /// Sends a call whose options are those of ``options(for:)``.
    func carryOut(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            guard !Task.isCancelled else { throw TransportError(.cancelled, processed: .no) }
            return try await assembly.chain(call)
        } catch {
            throw error.located(in: call)
        }
    }

    /// What a call with these wishes asks of the layers, with what no call may change.
    func options(for wishes: HTTPCallOptions) -> HTTPCallOptions {
        var everything = configuration.options
        everything.merge(wishes)
        everything.merge(assembly.fixedOptions)
        return everything
    }

    /// What a client is made of, put together once and shared by its copies.
    ///
    /// A call takes the client along; here that is one reference and not each of the settings.
    private final class Assembly: Sendable {
        let configuration: Configuration
        let transport: any HTTPTransport
        let base: Result<BaseAddress, NetworkError>
        let timer: DeadlineTimer
        let chain: HTTPNext
        /// The client's pins, and who signs its calls.
        let fixedOptions: HTTPCallOptions
        /// Whether no call outlasts its deadline, though nobody watches over it.
        let keepsDeadlines: Bool

        init(_ configuration: Configuration, _ transport: any HTTPTransport) {
            self.configuration = configuration
            self.transport = transport
            base = Result { () throws(NetworkError) in try BaseAddress(configuration.baseURL) }
            timer = DeadlineTimer.on(configuration.clock)
            let layers = NetworkClient.layers(of: configuration, transport, timer)
            chain = transport.chain(layers)
            var options = HTTPCallOptions()
            if let pins = configuration.pins { options.pins = pins }
            if let signer = CallSigner(layers) { options.signer = signer }
            fixedOptions = options
            keepsDeadlines =
                transport is any DeadlineKeeping
                && layers.allSatisfy { $0 is any DeadlineKeeping }
        }
    }

    /// The layers of a client, outermost first; the article "Layers" says why in this order.
    private static func layers(
        of configuration: Configuration,
        _ transport: any HTTPTransport,
        _ timer: DeadlineTimer
    ) -> [any HTTPMiddleware] {
        var layers = configuration.middleware
        if configuration.redirects != .never {
            layers.append(RedirectMiddleware(configuration.redirects, timer))
        }
        layers += configuration.hopMiddleware
        layers.append(RetryMiddleware(configuration.retry, configuration.clock, timer))
        layers.append(TransferMiddleware())
        layers += configuration.attemptMiddleware
        layers += (transport as? any LayeringTransport)?.clientLayers ?? []
        layers.append(StaleConnectionMiddleware(configuration.retry))
        layers.append(SilenceMiddleware(clock: configuration.clock))
        if !configuration.observers.isEmpty { layers.append(ExchangeObservation()) }
        return layers
    }

    /// Whether the transport is to end this call at its deadline.
    func endsAtDeadline(_ call: HTTPCall) -> Bool {
        assembly.keepsDeadlines && call.body.map { $0.bytes != nil } ?? true
    }

    /// The limit for a call, from its own wish or from the configuration.
    func deadline(for call: HTTPCall, _ plan: RequestPlan) -> Deadline? {
        var limit = plan.timeout
        if limit == nil, !plan.isLongUpload, let usual = configuration.timeout {
            // The way of a large body is not the server's fault.
            limit = usual + call.sendingTime
        }
        return limit.map { Deadline(in: $0, on: assembly.timer) }
    }

    /// Does a part of a call that must be over at the deadline.
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
