public import HTTPTypes
public import KeelCore
package import KeelHTTP

/// The reason why a WebSocket connection was not opened, or did not end in an orderly way.
///
/// The message and the description contain no query, header field, byte of a message or reason of a Close frame.
public struct WebSocketError: KeelError {
    /// The server's response to an upgrade that it refused.
    public struct Response: Sendable, Hashable {
        /// The status and the header fields.
        public let head: HTTPResponse

        /// The first bytes of the body, up to ``WebSocketConfiguration/errorBodyLimit``.
        public let body: [UInt8]

        /// Whether `body` is the whole body.
        public let isComplete: Bool

        /// Creates a response.
        public init(head: HTTPResponse, body: [UInt8] = [], isComplete: Bool = true) {
            self.head = head
            self.body = body
            self.isComplete = isComplete
        }
    }

    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// The server's response, for ``Code/upgradeRefused``.
    public let response: Response?

    /// The peer's Close frame, for ``Code/closed``.
    public let close: WebSocketClose?

    /// The target without user information, query and fragment.
    public private(set) var url: String?

    /// Creates an error; a nil message uses the code's own.
    ///
    /// The message must not contain a query, header field or contents, and `url` must already be redacted. The
    /// description of `cause` ends up in logs.
    public init(
        _ code: Code,
        _ message: String? = nil,
        response: Response? = nil,
        close: WebSocketClose? = nil,
        url: String? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message ?? code.summary
        self.response = response
        self.close = close
        self.url = url
        self.cause = cause
    }

    /// The code, the message and the target on one line, safe for logs.
    public var description: String {
        var text = "\(code.name): \(message)"
        if let response { text += " (status: \(response.head.status.code))" }
        if let close { text += " (code: \(close.code))" }
        if let url { text += " [\(url)]" }
        if let cause { text += " (cause: \(cause))" }
        return text
    }

    /// Returns this error with its target set, unless it has one.
    package func located(at url: String) -> WebSocketError {
        guard self.url == nil else { return self }
        var located = self
        located.url = url
        return located
    }
}

extension WebSocketError {
    package init(transport error: TransportError) {
        if error.code == .cancelled {
            self.init(.cancelled, url: error.url, cause: error)
        } else {
            self.init(.transport, error.message, url: error.url, cause: error)
        }
    }

    package init(closedBy close: WebSocketClose) {
        self.init(.closed, close: close)
    }

    /// Whether a new connection may succeed.
    ///
    /// Unlike ``Code/isTransient``, it considers the status of a refused upgrade, the code of a Close frame, and the
    /// cause of a failed connection.
    public var allowsReconnect: Bool {
        switch code {
        case .upgradeRefused:
            // RFC 9110 sections 15.5.9 and 15.6; RFC 6585 section 4; RFC 8470 section 5.2.
            [408, 425, 429, 500, 502, 503, 504].contains(response?.head.status.code ?? 0)
        case .closed:
            switch close?.code {
            case .goingAway, .noStatus, .internalError, .serviceRestart, .tryAgainLater,
                .badGateway:
                true
            default: false
            }
        case .transport: (cause as? TransportError)?.mayPass ?? false
        default: code.isTransient
        }
    }
}

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
    /// The server answered with a status other than 101, even a redirect; see ``WebSocketError/response``.
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
