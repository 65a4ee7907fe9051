public import KeelHTTP

/// The offers with which a WebSocket connection is opened, and its limits.
public struct WebSocketConfiguration: Sendable {
    /// The subprotocols that the app supports, the preferred one first; the server chooses at most one.
    public var subprotocols: [String] = []

    /// The offer of compression; nil offers none.
    public var deflate: WebSocketDeflate? = WebSocketDeflate()

    /// The public keys that the server may have; nil relies on certificate validation alone.
    ///
    /// The key is checked before the first byte of the request is sent; a mismatch fails with
    /// `TransportError.Code.tlsPinMismatch`, and so does a connection without TLS to a host with pins. The transport
    /// must declare `HTTPTransportFeatures.pinning`, see ``WebSocketTransport/features``.
    public var pins: PublicKeyPins?

    /// The time limit for opening: the name lookup, connection, TLS handshake and upgrade together.
    public var openTimeout: Duration = .seconds(10)

    /// The maximum size of a received message, in bytes after decompression.
    ///
    /// Reading stops at the latest at the first byte beyond the limit, and the connection is closed with
    /// ``WebSocketCloseCode/messageTooBig``.
    public var maximumMessageSize = 16 << 20

    /// The maximum size of a received frame, in bytes as transmitted.
    public var maximumFrameSize = 16 << 20

    /// The number of bytes of unread messages from which the socket is no longer read, which slows the server down.
    ///
    /// At least one message always fits.
    public var receiveBufferSize = 64 << 10

    /// The number of bytes of queued messages beyond which sending waits for the socket.
    ///
    /// With zero, each send waits until the socket has taken its last byte.
    public var sendBufferSize = 64 << 10

    /// The maximum payload of a sent frame, in bytes; nil sends each message in one frame.
    public var outgoingFrameSize: Int?

    /// The interval of pings that check whether the peer is alive; nil sends none.
    public var pingInterval: Duration? = .seconds(30)

    /// How long the peer may be silent after a ping of ``pingInterval`` before the connection is dropped with
    /// ``WebSocketError/Code/pongTimeout``.
    ///
    /// Any received byte counts as a sign of life. Time in which the app's own slow reader prevents reading the socket
    /// does not count. The timeout also limits the wait of ``WebSocketConnection/ping()`` for its pong.
    public var pongTimeout: Duration = .seconds(15)

    /// The time limit for receiving the peer's Close frame, and for the end of the connection.
    public var closeTimeout: Duration = .seconds(5)

    /// The number of bytes of a refused upgrade's body that the error keeps.
    public var errorBodyLimit = 64 << 10

    /// The user of several connections, set by a WebSocket that reconnects.
    var pin: SessionPin?

    /// Creates a configuration with the default limits.
    public init() {}
}

/// The offer of compression with permessage-deflate (RFC 7692), and its requirements.
public struct WebSocketDeflate: Sendable, Hashable {
    /// The largest window that this side compresses with, as an exponent of two from 8 to 15; the server may ask for a
    /// smaller one.
    public var clientWindowBits = 15

    /// The largest window that the server may compress with, as an exponent of two from 8 to 15; decompression needs as
    /// much memory.
    public var serverWindowBits = 15

    /// Whether each sent message is compressed independently of earlier ones.
    public var clientNoContextTakeover = false

    /// Whether the server must compress each message independently of earlier ones.
    public var serverNoContextTakeover = false

    /// The compression level, from 1 (fast) to 9 (small).
    public var level = 6

    /// The size in bytes below which messages are sent uncompressed.
    public var minimumSize = 64

    /// The maximum ratio of a message's size to its compressed size, checked for messages above 64 KiB; nil sets no
    /// limit.
    ///
    /// Harmless runs of equal bytes reach a ratio of about 1000.
    public var maximumRatio: Int?

    /// Creates an offer with the largest windows, which are kept from message to message.
    public init() {}
}
