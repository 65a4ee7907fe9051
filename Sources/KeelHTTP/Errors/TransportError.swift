public import KeelCore

/// Why an HTTP exchange did not take place, or did not reach its end.
///
/// It says nothing about statuses: a response with status 500 is a successful exchange. Neither
/// the message nor the description holds a query string, a header field or a byte of a body.
///
/// Compare errors by their ``code``: `error.code == .offline`. An error is not `Equatable`, because its
/// ``cause`` can be any error, and because two failures of one kind differ in their target, their
/// call and their attempts.
public struct TransportError: KeelError {
    /// How far an exchange had come.
    public struct Phase: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The request was being put together; nothing was sent.
        public static let build = Phase(description: "build")
        /// A free connection was being waited for.
        public static let pool = Phase(description: "pool")
        /// The host name was being looked up.
        public static let resolve = Phase(description: "resolve")
        /// The connection was being opened.
        public static let connect = Phase(description: "connect")
        /// The secure channel was being negotiated.
        public static let tls = Phase(description: "tls")
        /// The request was being sent.
        public static let send = Phase(description: "send")
        /// The response head was being waited for.
        public static let awaitHead = Phase(description: "awaitHead")
        /// The response body was being read.
        public static let readBody = Phase(description: "readBody")
        /// A redirect was being followed.
        public static let redirect = Phase(description: "redirect")
    }

    /// Whether the server may have acted on the request.
    public enum Processed: String, Sendable, Hashable {
        /// It cannot have: repeating the request is safe whatever its method.
        case no
        /// It may have: repeating is safe only for idempotent requests.
        case maybe
        /// It has: a response had begun.
        case yes
    }

    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// How far the exchange had come, where that is known.
    public let phase: Phase?

    /// Whether the server may have acted on the request.
    public let processed: Processed

    /// The target without user information, query and fragment.
    public private(set) var url: String?

    /// The call that failed, where it had a name.
    public private(set) var callID: HTTPCallID?

    /// Whether the connection had carried another exchange before, where that is known.
    public var reusedConnection: Bool?

    /// How many bytes of the request, its head included, had been handed to the network, where
    /// that is known: with 0 the server cannot have acted on it.
    public var bytesSent: Int64?

    /// How many bytes of the response body had arrived, where that is known.
    public var bytesReceived: Int64?

    /// All attempts at the call, this one last; empty where the call is made once and in one layer.
    public var attempts: [HTTPAttempt] = []

    /// Why the call was not repeated, where its failure is one that may pass.
    public var retryRefusal: RetryRefusal?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A sentence about the failure; nil uses the code's own. No query, field or body.
    ///   - phase: How far the exchange had come; nil uses the usual phase of the code.
    ///   - processed: Whether the server may have acted; nil derives it from the phase.
    ///   - url: The target, already redacted.
    ///   - cause: The error underneath. Its description ends up in logs: leave it out where it
    ///     may quote header fields or contents.
    public init(
        _ code: Code,
        _ message: String? = nil,
        phase: Phase? = nil,
        processed: Processed? = nil,
        url: String? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message ?? code.summary
        self.phase = phase ?? code.usualPhase
        self.processed = processed ?? Self.processed(in: self.phase)
        self.url = url
        self.cause = cause
    }

    /// The code, the message, the target and the phase on one line, fit for a log.
    public var description: String {
        var text = "\(code.name): \(message)"
        if let url { text += " [\(url)]" }
        if let phase { text += " (phase: \(phase), processed: \(processed.rawValue))" }
        if attempts.count > 1 { text += " (attempts: \(attempts.count))" }
        if let retryRefusal { text += " (not repeated: \(retryRefusal))" }
        if let cause { text += " (cause: \(cause))" }
        return text
    }

    /// Returns this error with the target named, unless one is named already.
    package func located(at url: String) -> TransportError {
        guard self.url == nil else { return self }
        var located = self
        located.url = url
        return located
    }

    /// Returns this error with the call and its target named, unless they are named already.
    package func located(in call: HTTPCall) -> TransportError {
        located(at: call.redactedURL, in: call.id)
    }

    /// Returns this error with the call and its target named, unless they are named already.
    package func located(at url: String, in call: HTTPCallID) -> TransportError {
        var located = self
        located.url = self.url ?? url
        located.callID = callID ?? call
        return located
    }

    private static func processed(in phase: Phase?) -> Processed {
        switch phase {
        case .build, .pool, .resolve, .connect, .tls: .no
        case .readBody, .redirect: .yes
        default: .maybe
        }
    }
}

extension TransportError {
    /// An error that says how large a response may be.
    package static func responseTooLarge(limit: Int) -> TransportError {
        TransportError(
            .responseTooLarge,
            "The response body is larger than the limit of \(limit) bytes.",
            phase: .readBody
        )
    }
}
