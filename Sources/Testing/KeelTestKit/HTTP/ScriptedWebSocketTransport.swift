public import HTTPTypes
public import KeelHTTP
public import KeelWebSocket
internal import Synchronization

/// A WebSocket transport that answers each connection attempt from a script.
///
/// ```swift
/// let transport = ScriptedWebSocketTransport([
///     .failure(WebSocketError(.notConnected)),
///     .connection([.text("hello")], end: .close(WebSocketClose(.normal))),
/// ])
/// ```
///
/// An attempt beyond the script fails with `WebSocketError.Code.unknown`.
public final class ScriptedWebSocketTransport: WebSocketTransport {
    /// The end of a scripted connection.
    public enum End: Sendable {
        /// The peer sends a Close frame.
        case close(WebSocketClose)
        /// The connection fails.
        case failure(WebSocketError)
        /// The connection stays open; reading waits until the task is canceled or this side closes the connection.
        case never
    }

    /// The outcome of one connection attempt.
    public enum Attempt: Sendable {
        /// The attempt fails.
        case failure(WebSocketError)
        /// The attempt succeeds; these messages arrive, followed by the end.
        case connection([WebSocketMessage], end: End)
    }

    /// Pins are accepted but have no effect, because a scripted server has no key.
    public var features: HTTPTransportFeatures { [.pinning] }

    private let script: Mutex<ArraySlice<Attempt>>
    private let seen = Mutex<(requests: [HTTPRequest], sent: [WebSocketMessage])>(([], []))

    /// Creates a transport that takes one entry of the script per attempt.
    public init(_ script: [Attempt]) { self.script = Mutex(script[...]) }

    /// The requests of all attempts, in order.
    public var requests: [HTTPRequest] { seen.withLock { $0.requests } }

    /// The messages sent over all connections, in order.
    public var sent: [WebSocketMessage] { seen.withLock { $0.sent } }

    public func withConnection<Value>(
        to request: HTTPRequest,
        configuration: WebSocketConfiguration,
        _ body: (WebSocketConnection) async throws -> Value
    ) async throws -> Value {
        seen.withLock { $0.requests.append(request) }
        switch script.withLock({ $0.popFirst() }) {
        case .failure(let error): throw error
        case .connection(let messages, let end):
            let channel = ScriptedWebSocketChannel(messages, end) { message in
                self.seen.withLock { $0.sent.append(message) }
            }
            // No part of a connection outlives the call.
            defer { channel.hangUp() }
            return try await body(WebSocketConnection(channel))
        case nil: throw WebSocketError(.unknown, "The script has no more attempts.")
        }
    }
}

/// A connection that delivers its messages and then ends.
private final class ScriptedWebSocketChannel: WebSocketChannel {
    let handshake = WebSocketHandshake()

    private struct State {
        var messages: ArraySlice<WebSocketMessage>
        /// Whether the end has been read.
        var hasEnded = false
        var isClosedHere = false
    }

    private let state: Watched<State>
    private let end: ScriptedWebSocketTransport.End
    private let record: @Sendable (WebSocketMessage) -> Void

    init(
        _ messages: [WebSocketMessage],
        _ end: ScriptedWebSocketTransport.End,
        record: @escaping @Sendable (WebSocketMessage) -> Void
    ) {
        state = Watched(State(messages: messages[...]))
        self.end = end
        self.record = record
    }

    var peerClose: WebSocketClose? {
        guard case .close(let close) = end, state.value.hasEnded else { return nil }
        return close
    }

    func send(_ message: WebSocketMessage) async throws(WebSocketError) {
        try checkIsOpen()
        record(message)
    }

    func receive() async throws(WebSocketError) -> WebSocketMessage? {
        let (message, isClosedHere) = state.change { state in
            (state.messages.popFirst(), state.isClosedHere)
        }
        if let message { return message }
        if isClosedHere { return nil }
        switch end {
        case .close(let close):
            state.change { $0.hasEnded = true }
            guard close.code.isOrderly else { throw WebSocketError(.closed, close: close) }
            return nil
        case .failure(let error):
            state.change { $0.hasEnded = true }
            throw error
        case .never:
            do {
                _ = try await state.wait { $0.isClosedHere ? true : nil }
            } catch {
                throw WebSocketError(.cancelled)
            }
            return nil
        }
    }

    func ping() async throws(WebSocketError) -> Duration {
        try checkIsOpen()
        return .zero
    }

    func close(_ close: WebSocketClose) async throws(WebSocketError) { hangUp() }

    /// Closes the connection, unless it has ended.
    func hangUp() { state.change { $0.isClosedHere = !$0.hasEnded } }

    private func checkIsOpen() throws(WebSocketError) {
        let state = state.value
        guard state.hasEnded || state.isClosedHere else { return }
        if state.hasEnded, case .failure(let error) = end { throw error }
        throw WebSocketError(.closed, close: peerClose)
    }
}
