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

    /// Creates an error.
    ///
    /// The message must not contain a query, header field or contents, and nil uses the code's own. `url` must already
    /// be redacted. The description of `cause` ends up in logs.
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
    /// Unlike ``Code/isTransient``, it considers the details: the status of a refused upgrade, the code of a Close
    /// frame, and the failure of the network.
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
        case .transport: (cause as? TransportError)?.isTransient ?? false
        default: code.isTransient
        }
    }
}
