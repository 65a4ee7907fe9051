import HTTPTypes
import KeelHTTP
import Synchronization

/// The transport below a client's layers that opens a WebSocket.
///
/// The layers may send several requests: after a refusal with new credentials, or concurrently when hedging. Each has
/// its own connection, in a task that ends when its request is canceled or in ``end(hasFailed:)``; the newest open one
/// is used.
final class WebSocketUpgrade: HTTPTransport {
    /// The pins have already been checked against the features of the underlying transport.
    let features: HTTPTransportFeatures = [.pinning]

    private typealias Answer = Result<WebSocketHandshake, WebSocketError>

    private struct Attempt {
        var connection: WebSocketConnection?
        /// Whether the request was canceled; a connection that opens all the same is not used.
        var isCancelled = false
        /// The continuation whose end releases the connection's closure.
        let release: AsyncStream<Never>.Continuation
        var task: Task<Void, Never>?
    }

    private struct State {
        var attempts: [Int: Attempt] = [:]
        var lastAttempt = 0
        var refusal: WebSocketError.Response?
        var isCancelled = false
        var hasFailed = false
    }

    /// Thrown in the closure of a connection if the app's closure failed.
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

    var connection: WebSocketConnection? {
        state.withLock { state in
            state.attempts.filter { $0.value.connection != nil }.max { $0.key < $1.key }?
                .value.connection
        }
    }

    var refusal: WebSocketError.Response? { state.withLock { $0.refusal } }

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
        // No answer means that the waiting task was canceled.
        switch outcome ?? .failure(WebSocketError(.cancelled)) {
        case .success(let handshake):
            return HTTPReply(head: handshake.head, connection: ConnectionInfo(isReused: false))
        case .failure(let error):
            if let refusal = error.response {
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

    // MARK: Lifetime of the connections

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
            // The task blocks on this lock before it does anything of consequence.
            let task = Task {
                do {
                    try await self.open(request, configuration) { connection in
                        self.state.withLock { state in
                            guard state.attempts[number]?.isCancelled == false else { return }
                            state.attempts[number]?.connection = connection
                        }
                        answer.yield(.success(connection.handshake))
                        for await _ in released {}
                        if self.state.withLock({ $0.hasFailed }) { throw Failed() }
                    }
                } catch {
                    // After the connection was open, this answer is not read.
                    answer.yield(.failure(error as? WebSocketError ?? WebSocketError(.unknown)))
                }
                answer.finish()
            }
            if state.isCancelled { task.cancel() }
            state.attempts[number]?.task = task
            return number
        }
    }

    private func cancel(_ number: Int) {
        state.withLock { state in
            state.attempts[number]?.connection = nil
            state.attempts[number]?.isCancelled = true
            return state.attempts[number]?.task
        }?.cancel()
    }

    func cancel() {
        let attempts = state.withLock { state in
            state.isCancelled = true
            return state.attempts.values.map(\.task)
        }
        for task in attempts { task?.cancel() }
    }

    /// Closes the connections and returns once all have ended.
    ///
    /// - Parameter hasFailed: Whether an error is the reason for closing.
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
