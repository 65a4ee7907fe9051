/// The offers with which a WebSocket connection is opened, and the limits that it keeps.
public struct WebSocketConfiguration: Sendable {
    /// The subprotocols that the app speaks, the preferred one first; the server picks one or none.
    public var subprotocols: [String] = []

    /// The offer of compression, or nil to offer none.
    public var deflate: WebSocketDeflate? = WebSocketDeflate()

    /// The public keys that the server may have; nil looks at certificates alone.
    ///
    /// They are compared before the first byte of the request is sent; a server with another key
    /// ends the opening with ``TransportError/Code/tlsPinMismatch``. A connection without TLS has no
    /// key: one to a host with pins is refused, too. A transport has to declare
    /// ``HTTPTransportFeatures/pinning``, see ``WebSocketTransport/features``.
    public var pins: PublicKeyPins?

    /// How long opening may take: name, connection, secure channel and upgrade together.
    public var openTimeout: Duration = .seconds(10)

    /// How large a received message may be, in bytes after decompression.
    ///
    /// Reading stops at the first byte too many, and the connection is closed with
    /// ``WebSocketCloseCode/messageTooBig``.
    public var maximumMessageSize = 16 << 20

    /// How large a received frame may be, in bytes as they travel.
    public var maximumFrameSize = 16 << 20

    /// How many bytes of messages wait for the reader before the socket is no longer read.
    ///
    /// A server that sends faster than the app reads is then slowed down by TCP. At least one
    /// message always fits.
    public var receiveBufferSize = 64 << 10

    /// How many bytes of messages may wait for the socket before sending waits for it, too.
    ///
    /// Zero lets each send wait until the socket has taken its last byte.
    public var sendBufferSize = 64 << 10

    /// The largest payload of a sent frame; nil sends each message in one frame.
    public var outgoingFrameSize: Int?

    /// How often a ping is sent to find out whether the peer is still there; nil sends none.
    public var pingInterval: Duration? = .seconds(30)

    /// How long the peer may be silent after a ping.
    ///
    /// The connection is then dropped with ``WebSocketError/Code/pongTimeout``. Any byte that
    /// arrives counts as a sign of life. Time in which the app's own slow reader keeps the socket
    /// from being read does not count.
    public var pongTimeout: Duration = .seconds(15)

    /// How long closing waits for the peer's Close frame and for the end of the connection.
    public var closeTimeout: Duration = .seconds(5)

    /// How many bytes of the body of a refused upgrade are kept in the error.
    public var refusalBodyLimit = 64 << 10

    /// Creates a configuration with the usual limits.
    public init() {}
}

/// The offers and demands of compression with permessage-deflate (RFC 7692).
public struct WebSocketDeflate: Sendable, Hashable {
    /// The largest window that this side compresses with, as an exponent of two from 8 to 15.
    ///
    /// Offered to the server, which may ask for a smaller one.
    public var clientWindowBits = 15

    /// The largest window that the server may compress with, as an exponent of two from 8 to 15.
    ///
    /// A smaller one saves memory here: decompressing takes as much as the window.
    public var serverWindowBits = 15

    /// Whether each sent message is compressed without knowledge of the earlier ones.
    public var clientForgetsContext = false

    /// Whether the server must compress each message without knowledge of the earlier ones.
    public var serverForgetsContext = false

    /// How hard to compress, from 1 (fast) to 9 (small).
    public var level = 6

    /// Messages with fewer bytes are sent uncompressed.
    public var minimumSize = 64

    /// How many times larger than its compressed form a message may be; nil sets no such limit.
    ///
    /// ``WebSocketConfiguration/maximumMessageSize`` holds in any case. Runs of equal bytes reach
    /// a ratio of about 1000 in all innocence.
    public var maximumRatio: Int?

    /// Creates an offer with windows of the largest size that are kept from message to message.
    public init() {}
}
