public import HTTPTypes

/// A response whose head has arrived and whose body can be read.
public struct HTTPReply: Sendable {
    /// The status and the header fields, as the server sent them.
    public var head: HTTPResponse

    /// The body; dropping it unread cancels the exchange.
    public var body: HTTPByteStream

    /// The connection of the exchange, if the transport reports it.
    public var connection: ConnectionInfo?

    /// Notes of the layers that the reply passed.
    public var notes = HTTPReplyNotes()

    /// Creates a reply.
    public init(
        head: HTTPResponse,
        body: HTTPByteStream = .empty,
        connection: ConnectionInfo? = nil
    ) {
        self.head = head
        self.body = body
        self.connection = connection
    }

    /// The value of the `Content-Length` field, or nil if it is missing or not a number.
    public var announcedLength: Int64? {
        head.headerFields[.contentLength].flatMap { Int64($0) }
    }
}

/// The known properties of an exchange's connection; nil means unknown.
public struct ConnectionInfo: Sendable, Hashable {
    /// The identifier of the connection within its transport.
    public var id: String?

    /// Whether the connection carried another exchange before.
    public var isReused: Bool?

    /// The protocol, such as `HTTP/1.1` or `HTTP/2`.
    public var version: String?

    /// The address of the peer.
    public var remoteAddress: String?

    /// Creates a description of a connection.
    public init(
        id: String? = nil,
        isReused: Bool? = nil,
        version: String? = nil,
        remoteAddress: String? = nil
    ) {
        self.id = id
        self.isReused = isReused
        self.version = version
        self.remoteAddress = remoteAddress
    }
}
