public import HTTPTypes

/// The result of the handshake that opened a connection.
public struct WebSocketHandshake: Sendable, Hashable {
    /// The status 101 and its header fields.
    public let head: HTTPResponse

    /// The subprotocol that the server chose, if any.
    public let subprotocol: String?

    /// The extensions in use, with their parameters, as the server named them.
    public let extensions: [String]

    /// Creates the result of a handshake.
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

/// A type that transports the messages of one open connection.
///
/// Apps use ``WebSocketConnection``; transports implement this protocol. Any task may call its methods, but only one at
/// a time ``receive()``. A canceled call throws ``WebSocketError/Code/cancelled``; a send or close may take effect all
/// the same.
public protocol WebSocketChannel: Sendable {
    /// The result of the handshake that opened the connection.
    var handshake: WebSocketHandshake { get }

    /// The peer's Close frame once it has arrived, unless this side closed first.
    var peerClose: WebSocketClose? { get }

    /// Sends a message, waiting for the socket if more than ``WebSocketConfiguration/sendBufferSize`` bytes are queued.
    ///
    /// - Throws: ``WebSocketError/Code/closed`` after a Close frame of either side, or the error that ended the
    ///   connection.
    func send(_ message: WebSocketMessage) async throws(WebSocketError)

    /// Returns the next message, or nil after an orderly close.
    ///
    /// - Throws: The error that ended the connection, after the messages that preceded it.
    func receive() async throws(WebSocketError) -> WebSocketMessage?

    /// Sends a ping and returns the time until its pong arrives.
    ///
    /// - Throws: ``WebSocketError/Code/pongTimeout``, or the error that ended the connection.
    func ping() async throws(WebSocketError) -> Duration

    /// Sends a Close frame and waits for the peer's, at most for the close timeout.
    ///
    /// ``WebSocketConnection`` has checked the code and the reason.
    ///
    /// - Throws: ``WebSocketError/Code/cancelled`` if the task was canceled while it waited.
    func close(_ close: WebSocketClose) async throws(WebSocketError)
}
