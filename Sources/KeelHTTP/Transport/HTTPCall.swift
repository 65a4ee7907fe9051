public import HTTPTypes

/// One request on its way to a transport.
public struct HTTPCall: Sendable {
    /// The method, the absolute target (scheme, authority, path with query) and the header fields.
    public var head: HTTPRequest

    /// The request body, if there is one.
    public var body: HTTPBody?

    /// The limits inside the exchange.
    public var timeouts: HTTPTimeouts

    /// Creates a call.
    public init(
        _ head: HTTPRequest,
        body: HTTPBody? = nil,
        timeouts: HTTPTimeouts = HTTPTimeouts()
    ) {
        self.head = head
        self.body = body
        self.timeouts = timeouts
    }

    /// Whether the call can be sent a second time with the same bytes.
    public var isReplayable: Bool { body?.isReplayable ?? true }

    /// The target without user information, query and fragment, fit for logs and errors.
    ///
    /// A query often carries tokens and personal data, so no part of it is kept.
    public var redactedURL: String { head.redactedURL }
}

extension HTTPRequest {
    /// Scheme, host, port and path: the parts of the target that may be logged.
    package var redactedURL: String {
        let place = (authority ?? "").split(separator: "@").last ?? ""
        let visiblePath = (path ?? "").prefix { $0 != "?" && $0 != "#" }
        return "\(scheme ?? "http")://\(place)\(visiblePath)"
    }
}
