/// An open WebSocket connection (RFC 6455).
///
/// It lives as long as the closure of ``WebSocketTransport/withConnection(to:configuration:_:)``.
/// One task reads ``messages``; any number of tasks may send.
///
/// ```swift
/// try await transport.withConnection(to: request) { connection in
///     try await connection.send("hello")
///     for try await message in connection.messages {
///         print(message)
///     }
/// }
/// ```
public struct WebSocketConnection: Sendable {
    private let channel: any WebSocketChannel

    /// Creates a connection over a channel; for transports and doubles.
    public init(_ channel: any WebSocketChannel) { self.channel = channel }

    /// The result of the handshake that opened the connection.
    public var handshake: WebSocketHandshake { channel.handshake }

    /// The subprotocol that the server picked, or nil.
    public var subprotocol: String? { handshake.subprotocol }

    /// The peer's Close frame, once it has arrived, unless this side had closed before.
    public var peerClose: WebSocketClose? { channel.peerClose }

    /// The messages of the peer, in order.
    ///
    /// The sequence ends when the connection was closed in an orderly way
    /// (``WebSocketCloseCode/isOrderly``) or from this side; otherwise it throws. Messages that are
    /// not read stay with the peer: see ``WebSocketConfiguration/receiveBufferSize``.
    public var messages: WebSocketMessages { WebSocketMessages(channel) }

    /// Sends a message.
    ///
    /// It returns at once while at most ``WebSocketConfiguration/sendBufferSize`` bytes wait for the
    /// socket, otherwise once the socket has taken the last byte of this message: a peer that does
    /// not read holds the sender back. That a peer has read a message, only its answer can tell. A
    /// send that is cancelled while it waits may still reach the peer, and then as a whole.
    ///
    /// - Throws: ``WebSocketError/Code/closed`` after a Close frame of either side, or the error
    ///   that ended the connection.
    public func send(_ message: WebSocketMessage) async throws(WebSocketError) {
        try await channel.send(message)
    }

    /// Sends a message of text.
    ///
    /// - Throws: The errors of ``send(_:)-(WebSocketMessage)``.
    public func send(_ text: String) async throws(WebSocketError) {
        try await channel.send(.text(text))
    }

    /// Sends a message of bytes.
    ///
    /// - Throws: The errors of ``send(_:)-(WebSocketMessage)``.
    public func send(_ bytes: [UInt8]) async throws(WebSocketError) {
        try await channel.send(.binary(bytes))
    }

    /// Returns the next message, or nil where ``messages`` would end.
    ///
    /// - Throws: The error that ended the connection.
    public func receive() async throws(WebSocketError) -> WebSocketMessage? {
        try await channel.receive()
    }

    /// Sends a ping and waits for its pong.
    ///
    /// The pong waits in line behind messages, so somebody must be reading those.
    ///
    /// - Returns: The time from the ping to its pong.
    /// - Throws: ``WebSocketError/Code/pongTimeout`` after ``WebSocketConfiguration/pongTimeout``;
    ///   the connection stays open then. Or the error that ended the connection.
    @discardableResult
    public func ping() async throws(WebSocketError) -> Duration {
        try await channel.ping()
    }

    /// Closes the connection: sends a Close frame and waits for the peer's.
    ///
    /// It waits at most for ``WebSocketConfiguration/closeTimeout`` and then drops the connection.
    /// From here on a slow reader no longer holds the peer back: messages that do not fit the
    /// receive buffer are lost. Closing again does nothing.
    ///
    /// - Parameters:
    ///   - code: Why; one that ``WebSocketCloseCode/isSendable``.
    ///   - reason: Words for the developers of the peer, at most 123 bytes of UTF-8.
    /// - Throws: ``WebSocketError/Code/invalidArgument`` for a code or reason that may not be sent,
    ///   ``WebSocketError/Code/cancelled`` if the task was cancelled while it waited.
    public func close(
        _ code: WebSocketCloseCode = .normal,
        reason: String = ""
    ) async throws(WebSocketError) {
        guard code.isSendable, reason.utf8.count <= WebSocketClose.maximumReasonLength else {
            throw WebSocketError(
                .invalidArgument,
                "The code \(code), or the length of the reason, is not allowed in a Close frame."
            )
        }
        try await channel.close(WebSocketClose(code, reason: reason))
    }
}

/// The messages that arrive on a connection.
public struct WebSocketMessages: AsyncSequence, Sendable {
    public typealias Element = WebSocketMessage
    public typealias Failure = WebSocketError

    private let channel: any WebSocketChannel

    init(_ channel: any WebSocketChannel) { self.channel = channel }

    public func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

    /// Reads one message after the other.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let channel: any WebSocketChannel

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(WebSocketError) -> WebSocketMessage? {
            try await channel.receive()
        }

        public mutating func next() async throws(WebSocketError) -> WebSocketMessage? {
            try await channel.receive()
        }
    }
}
