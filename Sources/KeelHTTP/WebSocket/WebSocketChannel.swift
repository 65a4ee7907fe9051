public import HTTPTypes

/// The result of the handshake that opened a connection.
public struct WebSocketHandshake: Sendable, Hashable {
    /// The status 101 and the header fields that came with it.
    public let head: HTTPResponse

    /// The subprotocol that the server picked, or nil.
    public let subprotocol: String?

    /// The extensions in use, with their parameters, as the server named them.
    public let extensions: [String]

    /// Creates a description of what was agreed.
    public init(
        head: HTTPResponse = HTTPResponse(status: .switchingProtocols),
        subprotocol: String? = nil,
        extensions: [String] = []
    ) {
        self.head = head
        self.subprotocol = subprotocol
        self.extensions = extensions
    }
}

/// A type that moves the messages of one open connection.
///
/// Apps use ``WebSocketConnection``; a transport implements this. Calls may come from any task,
/// ``receive()`` from one at a time. A cancelled call throws ``WebSocketError/Code/cancelled`` and
/// leaves the connection as it is.
public protocol WebSocketChannel: Sendable {
    /// The result of the handshake that opened the connection.
    var handshake: WebSocketHandshake { get }

    /// The peer's Close frame, once it has arrived, unless this side had closed before.
    var peerClose: WebSocketClose? { get }

    /// Sends a message, and waits for the socket where more than
    /// ``WebSocketConfiguration/sendBufferSize`` bytes are on their way to it.
    ///
    /// - Throws: ``WebSocketError/Code/closed`` after a Close frame of either side, or the error
    ///   that ended the connection.
    func send(_ message: WebSocketMessage) async throws(WebSocketError)

    /// Returns the next message, or nil after an orderly close.
    ///
    /// - Throws: The error that ended the connection, after the messages that came before it.
    func receive() async throws(WebSocketError) -> WebSocketMessage?

    /// Sends a ping and returns once its pong has arrived, with the time that took.
    ///
    /// - Throws: ``WebSocketError/Code/pongTimeout``, or the error that ended the connection.
    func ping() async throws(WebSocketError) -> Duration

    /// Sends a Close frame and waits for the peer's, at most for the close timeout.
    ///
    /// - Throws: ``WebSocketError/Code/invalidArgument`` for a code or reason that may not be sent.
    func close(_ close: WebSocketClose) async throws(WebSocketError)
}
