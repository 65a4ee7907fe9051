public import KeelHTTP

/// A fault in one exchange.
public enum HTTPFault: Sendable {
    /// The exchange fails before it reaches the transport below.
    case failure(TransportError)
    /// The server receives the request, but the caller gets this error in place of the response.
    case lostReply(TransportError)
    /// The body of the response fails with this error after the given number of bytes, or at its end if it is shorter.
    case brokenBody(after: Int, TransportError)
    /// The exchange is delayed on the clock, then the other fault applies; nil lets it through.
    indirect case delay(Duration, then: HTTPFault?)

    /// Fails the exchange before it reaches the transport below; the server does nothing.
    public static func fail(_ code: TransportError.Code = .connectionRefused) -> HTTPFault {
        .failure(
            TransportError(code, "An injected fault: the request was not sent.", processed: .no)
        )
    }

    /// Lets the server receive the request and loses the response; the server may have acted.
    public static func loseReply(_ code: TransportError.Code = .connectionLost) -> HTTPFault {
        .lostReply(
            TransportError(code, "An injected fault: the reply was lost.", processed: .maybe)
        )
    }

    /// Ends the body of the response with an error after the given number of bytes.
    public static func breakBody(after count: Int) -> HTTPFault {
        .brokenBody(
            after: count,
            TransportError(.truncatedBody, "An injected fault: the body broke off.")
        )
    }

    /// Delays the exchange on the clock, then lets it through.
    public static func delay(_ duration: Duration) -> HTTPFault { .delay(duration, then: nil) }
}

extension HTTPFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: HTTPFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
