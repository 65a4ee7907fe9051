public import HTTPTypes

/// A response whose head has arrived and whose body can be read.
public struct HTTPReply: Sendable {
    /// The status and the header fields.
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

    /// The value of the `Content-Length` field; nil if it is missing or not a number.
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

/// The key of a note that a layer can attach to a reply, with its default value.
///
/// Each layer defines the keys that it writes, as for ``HTTPCallOptionKey``.
public protocol HTTPReplyNoteKey {
    /// The type of the note's value.
    associatedtype Value: Sendable

    /// The value for replies without the note.
    static var defaultValue: Value { get }
}

/// Notes of the layers that a reply passed.
///
/// Unlike a header field, a note cannot come from a server.
public struct HTTPReplyNotes: Sendable {
    // Nil in nearly all replies, which avoids an allocation.
    private var values: [ObjectIdentifier: any Sendable]?

    /// Creates an empty set of notes.
    public init() {}

    /// The note of a key, or the key's default.
    public subscript<Key: HTTPReplyNoteKey>(key: Key.Type) -> Key.Value {
        get {
            guard let note = values?[ObjectIdentifier(key)] else { return Key.defaultValue }
            return note as? Key.Value ?? Key.defaultValue
        }
        set { values = (values ?? [:]).merging([ObjectIdentifier(key): newValue]) { $1 } }
    }
}

extension HTTPCallOptions {
    private enum ReportsSentFieldsKey: HTTPCallOptionKey {
        static var defaultValue: Bool { false }
    }

    /// Whether the reply reports the header fields of the request as it was sent, for a layer that must know what the
    /// layers below it add.
    package var reportsSentFields: Bool {
        get { self[ReportsSentFieldsKey.self] }
        set { self[ReportsSentFieldsKey.self] = newValue }
    }
}

extension HTTPReplyNotes {
    private enum SentFieldsKey: HTTPReplyNoteKey {
        static var defaultValue: HTTPFields? { nil }
    }

    /// The request's fields as the transport received them; nil if they were not requested, or if a layer answered the
    /// call itself.
    package var sentFields: HTTPFields? {
        get { self[SentFieldsKey.self] }
        set { self[SentFieldsKey.self] = newValue }
    }
}
