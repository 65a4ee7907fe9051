public import HTTPTypes
public import KeelCore
internal import KeelHTTP
internal import Synchronization

/// A WebSocket that reconnects when its connection is lost.
///
/// The connection ends with the task of ``run(_:)``. Its closure is called once per connection, so it can subscribe
/// again and request missed messages:
///
/// ```swift
/// let socket = ReconnectingWebSocket(to: request, over: transport)
/// try await socket.run { connection in
///     try await connection.send("subscribe")
///     for try await message in connection.messages { handle(message) }
/// }
/// ```
///
/// Messages are never sent twice: messages in transit when a connection breaks may be lost. Over the transport of a
/// client that signs calls, all connections are for one user: ``run(_:)`` ends with an error if another one has signed
/// in.
public final class ReconnectingWebSocket: Sendable {
    /// A function that creates the request of the next connection, for example with a fresh token.
    public typealias MakeRequest = @Sendable () async throws(WebSocketError) -> HTTPRequest

    private let makeRequest: MakeRequest
    private let transport: any WebSocketTransport
    private let configuration: WebSocketConfiguration
    private let policy: WebSocketReconnectPolicy
    private let clock: any Clock<Duration>
    private let random: any RandomNumberGenerator & Sendable

    private let observed = Mutex(ObservedState<State>(.idle))
    private let connection = Mutex<WebSocketConnection?>(nil)

    /// Creates a WebSocket that obtains a new request before each connection.
    ///
    /// The policy treats an error of `request` like one of the connection. `clock` measures the pauses, which are drawn
    /// from `random`.
    public init(
        over transport: any WebSocketTransport,
        configuration: WebSocketConfiguration = WebSocketConfiguration(),
        policy: WebSocketReconnectPolicy = WebSocketReconnectPolicy(),
        clock: any Clock<Duration> = ContinuousClock(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        request: @escaping MakeRequest
    ) {
        makeRequest = request
        self.transport = transport
        self.configuration = configuration
        self.policy = policy
        self.clock = clock
        self.random = random
    }

    /// Creates a WebSocket that opens each connection with the same request.
    public convenience init(
        to request: HTTPRequest,
        over transport: any WebSocketTransport,
        configuration: WebSocketConfiguration = WebSocketConfiguration(),
        policy: WebSocketReconnectPolicy = WebSocketReconnectPolicy(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            over: transport,
            configuration: configuration,
            policy: policy,
            clock: clock,
            request: { () async throws(WebSocketError) in request }
        )
    }

    // MARK: State

    /// The current state.
    public var state: State { observed.withLock { $0.current } }

    /// Returns the current state and all later ones; the sequence ends with ``run(_:)``.
    ///
    /// A slow reader gets the latest 16 states.
    public func states() -> AsyncStream<State> {
        AsyncStream(bufferingPolicy: .bufferingNewest(16)) { observer in
            let id = observed.withLock { observed in
                if case .ended = observed.current { return Int?.none }
                return observed.add(observer)
            }
            guard let id else {
                observer.yield(state)
                observer.finish()
                return
            }
            observer.onTermination = { [weak self] _ in
                self?.observed.withLock { $0.remove(id) }
            }
        }
    }

    /// Sends a message over the current connection.
    ///
    /// - Throws: ``WebSocketError/Code/notConnected`` if there is none, or the error of
    ///   ``WebSocketConnection/send(_:)-(WebSocketMessage)``.
    public func send(_ message: WebSocketMessage) async throws(WebSocketError) {
        guard let connection = connection.withLock({ $0 }) else {
            throw WebSocketError(.notConnected)
        }
        try await connection.send(message)
    }

    // MARK: Running

    private enum Ending {
        case finished
        case lost(WebSocketError, lasted: Duration?)
    }

    /// Opens one connection after another and runs `session` with each; call it once.
    ///
    /// The method returns when `session` returns, unless the peer has closed the connection with a code other than
    /// ``WebSocketCloseCode/normal`` for which the policy reconnects.
    ///
    /// - Parameter session: The work on a connection. A ``WebSocketError`` counts as the loss of the connection; any
    ///   other error ends the run.
    /// - Throws: The error of `session`; the last ``WebSocketError`` if the policy gives up;
    ///   ``WebSocketError/Code/cancelled`` if the task was canceled.
    public func run(_ session: (WebSocketConnection) async throws -> Void) async throws {
        do {
            try await runUntilFinished(session)
            end(nil)
        } catch {
            end(error as? WebSocketError)
            throw error
        }
    }

    private func runUntilFinished(
        _ session: (WebSocketConnection) async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.pin = SessionPin()
        var failures = 0
        var generator = random
        while true {
            change(to: .connecting(attempt: failures + 1))
            let ending = try await runOnce(configuration, session)
            guard case .lost(let error, let lasted) = ending else { return }
            guard !Task.isCancelled else { throw WebSocketError(.cancelled, cause: error) }
            if let lasted, lasted >= policy.stableAfter { failures = 0 }
            failures += 1
            guard failures < policy.retry.attempts, policy.shouldReconnect(error) else {
                throw error
            }
            let drawn = policy.retry.delay(before: failures, using: &generator)
            let asked = error.response?.head.retryAfter ?? .zero
            // The server's pause is the minimum; the rest spreads out its clients.
            let pause = min(asked, policy.maximumServerDelay) + drawn
            change(to: .waiting(pause, after: error))
            do {
                try await clock.sleep(for: pause)
            } catch {
                throw WebSocketError(.cancelled, cause: error)
            }
        }
    }

    private func runOnce(
        _ configuration: WebSocketConfiguration,
        _ session: (WebSocketConnection) async throws -> Void
    ) async throws -> Ending {
        var elapsed: (() -> Duration)?
        defer { connection.withLock { $0 = nil } }
        do {
            try transport.demandPinning(for: configuration.pins)
            let request = try await makeRequest()
            return try await transport.withConnection(to: request, configuration: configuration) {
                opened in
                elapsed = stopwatch(on: clock)
                connection.withLock { $0 = opened }
                change(to: .connected(opened.handshake))
                try await session(opened)
                guard let close = opened.peerClose, close.code != .normal else { return .finished }
                let error = WebSocketError(closedBy: close)
                return policy.shouldReconnect(error)
                    ? .lost(error, lasted: elapsed?()) : .finished
            }
        } catch let error as WebSocketError {
            return .lost(error, lasted: elapsed?())
        }
    }

    private func change(to state: State) {
        observed.withLock { $0.change(to: state) }
    }

    private func end(_ error: WebSocketError?) {
        let observers = observed.withLock { observed in
            observed.change(to: .ended(error))
            return observed.finish()
        }
        // Outside the lock, because finishing calls back to remove the observer.
        for observer in observers { observer.finish() }
    }
}

/// When and after what pauses a WebSocket reconnects.
public struct WebSocketReconnectPolicy: Sendable {
    /// The maximum number of consecutive attempts, and the pauses between them, drawn with full jitter; `totalLimit` is
    /// ignored.
    public var retry: RetryPolicy

    /// How long a connection must have lasted for the count of failures to start over.
    public var stableAfter: Duration

    /// The longest pause that a server can request with `Retry-After` when it refuses a connection; a longer one is
    /// shortened.
    public var maximumServerDelay: Duration

    /// Whether to reconnect after a failure; ``WebSocketError/allowsReconnect`` by default.
    public var shouldReconnect: @Sendable (WebSocketError) -> Bool

    /// Creates a policy.
    public init(
        retry: RetryPolicy = RetryPolicy(
            attempts: .max,
            baseDelay: .milliseconds(500),
            maximumDelay: .seconds(60)
        ),
        stableAfter: Duration = .seconds(10),
        maximumServerDelay: Duration = .seconds(300),
        shouldReconnect: @escaping @Sendable (WebSocketError) -> Bool = { $0.allowsReconnect }
    ) {
        self.retry = retry
        self.stableAfter = stableAfter
        self.maximumServerDelay = maximumServerDelay
        self.shouldReconnect = shouldReconnect
    }
}
