public import KeelCore

extension WebSocketError {
    /// The kinds of failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

// MARK: - Opening

extension WebSocketError.Code {
    /// The request cannot open a connection: its target or a header field is not allowed.
    public static let invalidRequest = Self(
        name: "invalidRequest",
        summary: "The request cannot open a WebSocket connection.",
        advice: "Use a ws or wss address without a fragment, and omit the upgrade's header fields."
    )
    /// The server answered with a status other than 101; see ``WebSocketError/response``.
    ///
    /// Redirects count as refusals: following them is left to the app, which knows the hosts that may get its
    /// credentials.
    public static let upgradeRefused = Self(
        name: "upgradeRefused",
        summary: "The server refused to open a WebSocket connection.",
        advice: "See the status and the body of the response; a token may have expired."
    )
    /// The server agreed, but in a way that violates RFC 6455 or RFC 7692.
    public static let handshakeInvalid = Self(
        name: "handshakeInvalid",
        summary: "The server's response to the WebSocket upgrade is not valid.",
        advice: "The server, or a proxy in front of it, does not speak WebSocket correctly."
    )
    /// The underlying connection failed; the cause is a `TransportError`.
    public static let transport = Self(
        name: "transport",
        isTransient: true,
        summary: "The connection failed.",
        advice: "Check the network connection and the server's address; see the cause."
    )
}

// MARK: - While open

extension WebSocketError.Code {
    /// The peer violated RFC 6455 or RFC 7692.
    public static let protocolViolation = Self(
        name: "protocolViolation",
        summary: "The server violated the WebSocket protocol.",
        advice: "The server, or a proxy in front of it, does not speak WebSocket correctly."
    )
    /// The peer sent text, or a close reason, that is not UTF-8.
    public static let invalidUTF8 = Self(
        name: "invalidUTF8",
        summary: "The server sent text that is not UTF-8.",
        advice: "Have the server send binary messages where the data is not text."
    )
    /// The peer sent a message or a frame that exceeds the configured limits.
    public static let messageTooLarge = Self(
        name: "messageTooLarge",
        summary: "The server sent a message that is larger than the limit.",
        advice: "Raise the limits of the configuration, or have the server send smaller messages."
    )
    /// The peer was silent after a ping.
    public static let pongTimeout = Self(
        name: "pongTimeout",
        isTransient: true,
        summary: "The server did not answer a ping in time.",
        advice: "Connect again; the network may have changed without notice."
    )
    /// The peer closed the connection, see ``WebSocketError/close``, or this side did.
    public static let closed = Self(
        name: "closed",
        summary: "The connection is closed.",
        advice: "See the code of the Close frame; connect again if it says so."
    )
    /// There is currently no connection.
    public static let notConnected = Self(
        name: "notConnected",
        isTransient: true,
        summary: "There is currently no connection.",
        advice: "Wait for the state 'connected', or keep the message until then."
    )
    /// Two tasks read the messages of one connection at once.
    public static let concurrentRead = Self(
        name: "concurrentRead",
        summary: "Two tasks read the messages of one connection at once.",
        advice: "Read each connection from one task, and hand the messages on from there."
    )
    /// The app requested something that the protocol does not allow.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        summary: "The protocol does not allow this.",
        advice: "Close with a code that may be sent and a reason of at most 123 bytes."
    )
    /// The caller canceled the call.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "The call was canceled.",
        advice: "Nothing to do: the caller no longer wants the result."
    )
    /// A failure that no other code describes.
    public static let unknown = Self(
        name: "unknown",
        summary: "The connection failed for an unknown reason.",
        advice: "See the cause; if it occurs often, report it."
    )

    public static let known: [Self] = [
        .invalidRequest, .upgradeRefused, .handshakeInvalid, .transport, .protocolViolation,
        .invalidUTF8, .messageTooLarge, .pongTimeout, .closed, .notConnected, .concurrentRead,
        .invalidArgument, .cancelled, .unknown,
    ]
}
