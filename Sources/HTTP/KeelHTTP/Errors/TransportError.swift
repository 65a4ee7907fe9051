public import KeelCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// The reason why an HTTP exchange did not take place or did not complete.
///
/// Statuses are not errors: a response with status 500 is a successful exchange. The message and the description
/// contain no query string, header field or byte of a body.
///
/// Compare errors by their ``code``: `error.code == .offline`. The type is not `Equatable`, because its ``cause`` can
/// be any error.
public struct TransportError: KeelError {
    /// A step of an exchange.
    public struct Phase: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// The request was being built; nothing was sent.
        public static let build = Phase(description: "build")
        /// The call was waiting for a free connection.
        public static let pool = Phase(description: "pool")
        /// The host name was being looked up.
        public static let resolve = Phase(description: "resolve")
        /// The connection was being opened.
        public static let connect = Phase(description: "connect")
        /// The TLS handshake was in progress.
        public static let tls = Phase(description: "tls")
        /// The request was being sent.
        public static let send = Phase(description: "send")
        /// The client was waiting for the response head.
        public static let awaitHead = Phase(description: "awaitHead")
        /// The response body was being read.
        public static let readBody = Phase(description: "readBody")
        /// A redirect was being followed.
        public static let redirect = Phase(description: "redirect")
    }

    /// Whether the server may have acted on the request.
    public enum Processed: String, Sendable, Hashable {
        /// It did not: repeating the request is safe whatever its method.
        case no
        /// It may have: repeating the request is safe only if it is idempotent.
        case maybe
        /// It did: a response had begun.
        case yes
    }

    public let code: Code
    public let message: String
    public internal(set) var cause: (any Error)?

    /// The step that failed, if known.
    public let phase: Phase?

    /// Whether the server may have acted on the request.
    public let processed: Processed

    /// The target without user information, query and fragment.
    public internal(set) var url: String?

    /// The identifier of the failed call, if it has one.
    public private(set) var callID: HTTPCallID?

    /// Whether the connection carried another exchange before, if known.
    public var reusedConnection: Bool?

    /// The number of bytes of the request, including its head, handed to the network, if known; with 0 the server
    /// cannot have acted on the request.
    public var bytesSent: Int64?

    /// The number of bytes of the response body that arrived, if known.
    public var bytesReceived: Int64?

    /// The attempts since the call's last redirect, in order; empty for an error outside of an attempt, such as one in
    /// a streamed body or of a layer above the retries.
    public var attempts: [HTTPAttempt] = []

    /// The reason why a failure that permits a retry was not retried.
    public var retryRefusal: RetryRefusal?

    /// Creates an error.
    ///
    /// The message must not contain a query, header field or body, and `url` must already be redacted. The description
    /// of `cause` ends up in logs: omit a cause that may quote header fields or contents.
    ///
    /// A nil `message` uses the code's own, a nil `phase` the code's usual phase; a nil `processed` follows from the
    /// phase.
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

    /// The code, the message, the target and the phase on one line, safe for logs.
    public var description: String {
        var text = "\(code.name): \(message)"
        if let url { text += " [\(url)]" }
        if let phase { text += " (phase: \(phase), processed: \(processed.rawValue))" }
        if attempts.count > 1 { text += " (attempts: \(attempts.count))" }
        if let retryRefusal { text += " (not repeated: \(retryRefusal))" }
        if let cause { text += " (cause: \(cause))" }
        return text
    }

    /// Returns this error with its target set, unless it has one.
    package func located(at url: String) -> TransportError {
        guard self.url == nil else { return self }
        var located = self
        located.url = url
        return located
    }

    /// Returns this error with its call and target set, unless it has them.
    package func located(in call: HTTPCall) -> TransportError {
        located(at: call.redactedURL, in: call.id)
    }

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
    package static func responseTooLarge(limit: Int) -> TransportError {
        TransportError(
            .responseTooLarge,
            "The response body is larger than the limit of \(limit) bytes.",
            phase: .readBody
        )
    }
}

/// A record of one attempt at a call.
public struct HTTPAttempt: Sendable, Hashable, CustomStringConvertible {
    /// The result of an attempt.
    public enum Outcome: Sendable, Hashable {
        /// The attempt failed with this code.
        case failed(TransportError.Code)
        /// The server answered with this status.
        case answered(status: Int)
    }

    /// The number of the attempt, counted from 1.
    public var number: Int

    /// The outcome of the attempt.
    public var outcome: Outcome

    /// The time that the attempt took.
    public var duration: Duration

    /// Creates a record of an attempt.
    public init(number: Int, outcome: Outcome, duration: Duration) {
        self.number = number
        self.outcome = outcome
        self.duration = duration
    }

    /// The number, the outcome and the duration, safe for logs.
    public var description: String {
        let result =
            switch outcome {
            case .failed(let code): code.name
            case .answered(let status): "status \(status)"
            }
        return "\(number): \(result) after \(duration)"
    }
}

/// The reason why a call was not retried despite an outcome that permits it.
public struct RetryRefusal: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    /// Creates a reason, for layers with reasons of their own.
    public init(_ description: String) { self.description = description }

    /// All attempts that the policy allows were made.
    public static let attemptsExhausted = Self("attempts exhausted")
    /// The server may have acted on the request, and repeating it may do harm.
    public static let notIdempotent = Self("not idempotent")
    /// The body of the request cannot be sent again.
    public static let notReplayable = Self("body not replayable")
    /// The retry budget of the origin is spent.
    public static let budgetExhausted = Self("retry budget exhausted")
    /// The circuit of the origin is open.
    public static let circuitOpen = Self("circuit open")
    /// The server requests a longer pause than the policy allows.
    public static let pauseTooLong = Self("server requests a longer pause")
    /// The call's total time would run out before the next attempt.
    public static let noTimeLeft = Self("no time left")
}

extension TransportError.Code {
    /// Creates the code for the `errno` of a connection that failed in `phase`, for transports that own their sockets.
    ///
    /// An unreachable host or network is ``offline`` only while connecting. An established connection can fail with the
    /// same numbers (`tcp(7)`); the server may then have acted on the request, so the code is ``connectionLost``.
    package init(systemError number: CInt, in phase: TransportError.Phase) {
        switch number {
        case ECONNREFUSED: self = .connectionRefused
        case EADDRNOTAVAIL: self = .offline
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN:
            self = phase == .connect || phase == .resolve ? .offline : .connectionLost
        case ETIMEDOUT where phase == .connect: self = .connectTimeout
        case ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN, ETIMEDOUT, EBADF, ENETRESET:
            self = .connectionLost
        default: self = .unknown
        }
    }

    /// Creates the code for a failed `getaddrinfo` that returned one of the `EAI_…` numbers.
    package init(lookupFailure number: Int) {
        let passing = [EAI_AGAIN, EAI_SYSTEM, EAI_MEMORY, EAI_FAIL].map { Int($0) }
        self = passing.contains(number) ? .nameLookupFailed : .hostNotFound
    }
}
