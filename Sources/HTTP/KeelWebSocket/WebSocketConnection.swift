/// An open WebSocket connection (RFC 6455).
///
/// The connection lives as long as the closure of ``WebSocketTransport/withConnection(to:configuration:_:)``. One task
/// reads ``messages``; any number of tasks may send.
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

    /// Creates a connection over a channel, for transports and test doubles.
    public init(_ channel: any WebSocketChannel) { self.channel = channel }

    /// The result of the handshake that opened the connection.
    public var handshake: WebSocketHandshake { channel.handshake }

    /// The subprotocol that the server chose, if any.
    public var subprotocol: String? { handshake.subprotocol }

    /// The peer's Close frame once it has arrived, unless this side closed first.
    public var peerClose: WebSocketClose? { channel.peerClose }

    /// The messages of the peer, in order.
    ///
    /// The sequence ends if the connection is closed in an orderly way (``WebSocketCloseCode/isOrderly``) or from this
    /// side; otherwise it throws. Unread messages stay with the peer: see ``WebSocketConfiguration/receiveBufferSize``.
    public var messages: WebSocketMessages { WebSocketMessages(channel) }

    /// Sends a message.
    ///
    /// The method returns immediately while at most ``WebSocketConfiguration/sendBufferSize`` bytes are queued, and
    /// otherwise once the socket has taken the last byte of this message: a peer that does not read slows the sender
    /// down. Only a reply of the peer shows that it has read a message. A send that is canceled while it waits may
    /// still deliver the whole message.
    ///
    /// - Throws: ``WebSocketError/Code/closed`` after a Close frame of either side; the error that ended the
    ///   connection, or for which an earlier message was not sent; ``WebSocketError/Code/cancelled``.
    public func send(_ message: WebSocketMessage) async throws(WebSocketError) {
        try await channel.send(message)
    }

    /// Sends a text message.
    ///
    /// - Throws: The errors of ``send(_:)-(WebSocketMessage)``.
    public func send(_ text: String) async throws(WebSocketError) {
        try await channel.send(.text(text))
    }

    /// Sends a binary message.
    ///
    /// - Throws: The errors of ``send(_:)-(WebSocketMessage)``.
    public func send(_ bytes: [UInt8]) async throws(WebSocketError) {
        try await channel.send(.binary(bytes))
    }

    /// Returns the next message, or nil at the end of ``messages``.
    ///
    /// - Throws: The error that ended the connection, ``WebSocketError/Code/concurrentRead`` or
    ///   ``WebSocketError/Code/cancelled``.
    public func receive() async throws(WebSocketError) -> WebSocketMessage? {
        try await channel.receive()
    }

    /// Sends a ping and waits for its pong.
    ///
    /// The pong is queued behind messages, so a task must be reading them.
    ///
    /// - Returns: The time from the ping to its pong.
    /// - Throws: ``WebSocketError/Code/pongTimeout`` after ``WebSocketConfiguration/pongTimeout``, in which case the
    ///   connection stays open; the error that ended the connection; or ``WebSocketError/Code/cancelled``.
    @discardableResult
    public func ping() async throws(WebSocketError) -> Duration {
        try await channel.ping()
    }

    /// Closes the connection: sends a Close frame and waits for the peer's, at most for
    /// ``WebSocketConfiguration/closeTimeout``.
    ///
    /// From now on a slow reader no longer slows the peer down: messages beyond the receive buffer are lost. Closing
    /// again has no effect.
    ///
    /// - Parameters:
    ///   - code: The code, which must be ``WebSocketCloseCode/isSendable``.
    ///   - reason: A text for the developers of the peer, at most 123 bytes of UTF-8.
    /// - Throws: ``WebSocketError/Code/invalidArgument`` for a code or reason that must not be sent,
    ///   ``WebSocketError/Code/cancelled`` if the task was canceled while it waited.
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

/// The messages received on a connection.
public struct WebSocketMessages: AsyncSequence, Sendable {
    public typealias Element = WebSocketMessage
    public typealias Failure = WebSocketError

    private let channel: any WebSocketChannel

    init(_ channel: any WebSocketChannel) { self.channel = channel }

    public func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

    /// An iterator over the messages.
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

/// A complete message of a WebSocket connection, regardless of its number of frames.
public enum WebSocketMessage: Sendable, Hashable {
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])

    /// The text, or nil for a binary message.
    public var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The size of the message in bytes, with text in UTF-8.
    public var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
