import HTTPTypes
import Synchronization

/// Opens a WebSocket as the last step of a client's layers.
///
/// The layers may ask for several requests: after a refusal with new credentials, or at once where
/// they hedge. Each is a connection of its own; the newest that is open is the one in use.
///
/// A connection lasts as long as a closure runs, and the layers have returned by then. So each runs
/// in a task, which ends with the request that was cancelled, or in ``end(hasFailed:)``.
final class WebSocketUpgrade: HTTPTransport {
    /// Whether pins are checked was asked before, of the transport that opens.
    let features: HTTPTransportFeatures = [.pinning]

    private typealias Answer = Result<WebSocketHandshake, WebSocketError>

    private struct Attempt {
        var connection: WebSocketConnection?
        /// Ends the closure that keeps the connection open.
        let release: AsyncStream<Never>.Continuation
        var task: Task<Void, Never>?
    }

    private struct State {
        var attempts: [Int: Attempt] = [:]
        var lastAttempt = 0
        var refusal: WebSocketError.Refusal?
        var isCancelled = false
        var hasFailed = false
    }

    /// Thrown by the closure of a connection when the app's closure has failed.
    private struct Failed: Error {}

    private typealias Opened = @Sendable (WebSocketConnection) async throws -> Void

    private let open: @Sendable (HTTPRequest, WebSocketConfiguration, Opened) async throws -> Void
    private let configuration: WebSocketConfiguration
    private let state = Mutex(State())

    init(over transport: some WebSocketTransport, _ configuration: WebSocketConfiguration) {
        self.configuration = configuration
        open = { request, configuration, opened in
            try await transport.withConnection(
                to: request,
                configuration: configuration
            ) { try await opened($0) }
        }
    }

    /// The connection that was opened last and is open still.
    var connection: WebSocketConnection? {
        state.withLock { state in
            state.attempts.filter { $0.value.connection != nil }.max { $0.key < $1.key }?
                .value.connection
        }
    }

    /// The newest refusal of the server.
    var refusal: WebSocketError.Refusal? { state.withLock { $0.refusal } }

    // MARK: HTTPTransport

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let (answers, answer) = AsyncStream.makeStream(of: Answer.self)
        var configuration = configuration
        configuration.pins = call.options.pins ?? configuration.pins
        let number = begin(call.head.ofWebSocket, configuration, answer)
        let outcome = await withTaskCancellationHandler {
            await answers.first { _ in true }
        } onCancel: {
            cancel(number)
        }
        // Without an answer the waiting task was cancelled.
        switch outcome ?? .failure(WebSocketError(.cancelled)) {
        case .success(let handshake):
            return HTTPReply(head: handshake.head, connection: ConnectionInfo(isReused: false))
        case .failure(let error):
            if let refusal = error.refusal {
                state.withLock { $0.refusal = refusal }
                return HTTPReply(head: refusal.head, body: .collected(refusal.body))
            }
            if let cause = error.cause as? TransportError { throw cause }
            throw TransportError(
                error.code == .cancelled
                    ? .cancelled
                    : error.code == .invalidRequest ? .invalidRequest : .protocolViolation,
                error.message,
                cause: error
            )
        }
    }

    func shutdown() async {}

    // MARK: The life of the connections

    private func begin(
        _ request: HTTPRequest,
        _ configuration: WebSocketConfiguration,
        _ answer: AsyncStream<Answer>.Continuation
    ) -> Int {
        let (released, release) = AsyncStream.makeStream(of: Never.self)
        return state.withLock { state in
            state.lastAttempt += 1
            let number = state.lastAttempt
            state.attempts[number] = Attempt(release: release)
            // The task waits for this lock before it does anything that matters.
            let task = Task {
                do {
                    try await self.open(request, configuration) { connection in
                        self.state.withLock { $0.attempts[number]?.connection = connection }
                        answer.yield(.success(connection.handshake))
                        for await _ in released {}
                        if self.state.withLock({ $0.hasFailed }) { throw Failed() }
                    }
                } catch {
                    // After the connection was open nobody reads this.
                    answer.yield(.failure(error as? WebSocketError ?? WebSocketError(.unknown)))
                }
                answer.finish()
            }
            if state.isCancelled { task.cancel() }
            state.attempts[number]?.task = task
            return number
        }
    }

    /// Drops the connection of one request, open or not.
    private func cancel(_ number: Int) {
        state.withLock { state in
            state.attempts[number]?.connection = nil
            return state.attempts[number]?.task
        }?.cancel()
    }

    /// Drops all connections, and those that are still asked for.
    func cancel() {
        let attempts = state.withLock { state in
            state.isCancelled = true
            return state.attempts.values.map(\.task)
        }
        for task in attempts { task?.cancel() }
    }

    /// Closes the connections, and returns once nothing is left of them.
    ///
    /// - Parameter hasFailed: Whether they are closed because of an error.
    func end(hasFailed: Bool) async {
        let attempts = state.withLock { state in
            state.hasFailed = hasFailed
            defer { state.attempts = [:] }
            return Array(state.attempts)
        }
        let inUse = attempts.filter { $0.value.connection != nil }.map(\.key).max()
        for (number, attempt) in attempts {
            attempt.release.finish()
            if number != inUse { attempt.task?.cancel() }
        }
        for (_, attempt) in attempts { await attempt.task?.value }
    }
}

extension HTTPRequest {
    /// The same request with the scheme of WebSocket.
    fileprivate var ofWebSocket: HTTPRequest {
        var request = self
        switch scheme?.lowercased() {
        case "http": request.scheme = "ws"
        case "https": request.scheme = "wss"
        default: break
        }
        return request
    }
}
