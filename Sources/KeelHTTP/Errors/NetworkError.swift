public import HTTPTypes
public import KeelCore

/// Why a call of ``NetworkClient`` gave no value.
///
/// It covers the exchange, through ``transportError``, and what the status and the body mean.
/// Neither the message nor the description holds a query string, a header field or a byte of a
/// body; ``response`` has them for code that needs them.
public struct NetworkError: KeelError, CustomDebugStringConvertible {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// The response, where one arrived: its head and the first bytes of its body.
    ///
    /// Of a body that belongs to a refusing status, at most
    /// ``NetworkClient/Configuration/errorBodyLimit`` bytes are kept.
    public let response: NetworkResponse?

    /// The target without user information, query and fragment.
    public let url: String?

    /// The body of a refusing response, as the type that was declared for its status.
    ///
    /// See ``FailureBody``. It is never part of a message or a description.
    public let failure: (any Sendable)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A sentence about the failure; nil uses the code's own. No query, field or body.
    ///   - response: The response, where one arrived.
    ///   - url: The target, already redacted.
    ///   - cause: The error underneath.
    ///   - failure: The decoded body of the response.
    public init(
        _ code: Code,
        _ message: String? = nil,
        response: NetworkResponse? = nil,
        url: String? = nil,
        cause: (any Error)? = nil,
        failure: (any Sendable)? = nil
    ) {
        self.code = code
        self.message = message ?? code.summary
        self.response = response
        self.url = url
        self.cause = cause
        self.failure = failure
    }

    /// The body of a refusing response, if it was read as this type.
    public func failure<Value: Sendable>(as type: Value.Type) -> Value? { failure as? Value }

    /// The status of the response, where one arrived.
    public var status: HTTPResponse.Status? { response?.head.status }

    /// The failure of the exchange, where it was the exchange that failed.
    public var transportError: TransportError? { cause as? TransportError }

    /// The code, the message and the target on one line, fit for a log.
    ///
    /// A cause is named only if it is a ``TransportError``: the text of a decoding error can quote
    /// the body.
    public var description: String {
        var text = "\(code.name): \(message)"
        if let url { text += " [\(url)]" }
        if let transportError { text += " (cause: \(transportError))" }
        return text
    }

    public var debugDescription: String { description }
}

extension NetworkError: CustomReflectable {
    // Test failures and `dump` print what reflection shows: without this, the body's bytes.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code.name, "message": message, "url": url ?? ""])
    }
}
