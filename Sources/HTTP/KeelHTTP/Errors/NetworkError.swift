public import HTTPTypes
public import KeelCore

/// The reason why a call of ``NetworkClient`` returned no value: the exchange failed, or the status or the body is not
/// as expected.
///
/// The message and the description contain no query string, header field or byte of a body; ``response`` has them.
public struct NetworkError: KeelError, CustomDebugStringConvertible {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// The response, if one arrived.
    ///
    /// Of the body of an error response, a client keeps at most ``NetworkClient/Configuration/errorBodyLimit`` bytes.
    public let response: NetworkResponse?

    /// The target without user information, query and fragment.
    public let url: String?

    /// The body of an error response, decoded as the type declared for its status; see ``ErrorBody``.
    ///
    /// Messages and descriptions never contain it.
    public let errorBody: (any Sendable)?

    /// Creates an error; a nil message uses the code's own.
    ///
    /// The message must not contain a query, header field or body, and `url` must already be redacted.
    public init(
        _ code: Code,
        _ message: String? = nil,
        response: NetworkResponse? = nil,
        url: String? = nil,
        cause: (any Error)? = nil,
        errorBody: (any Sendable)? = nil
    ) {
        self.code = code
        self.message = message ?? code.summary
        self.response = response
        self.url = url
        self.cause = cause
        self.errorBody = errorBody
    }

    /// Returns the decoded body, if it has the given type.
    public func errorBody<Value: Sendable>(as type: Value.Type) -> Value? { errorBody as? Value }

    /// The status of the response, if one arrived.
    public var status: HTTPResponse.Status? { response?.head.status }

    /// The error of the exchange, if the exchange failed.
    public var transportError: TransportError? { cause as? TransportError }

    /// The code, the message and the target on one line, safe for logs.
    ///
    /// Only a ``TransportError`` is included as the cause, because the text of a decoding error can quote the body.
    public var description: String {
        var text = "\(code.name): \(message)"
        if let url { text += " [\(url)]" }
        if let transportError { text += " (cause: \(transportError))" }
        return text
    }

    public var debugDescription: String { description }
}

extension NetworkError: CustomReflectable {
    // Test failures and `dump` print the mirror, which would otherwise show the bytes of the body.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.name, "message": message, "url": url ?? ""])
    }
}
