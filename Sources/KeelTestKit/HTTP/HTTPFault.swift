public import KeelHTTP

/// What goes wrong with one exchange.
public enum HTTPFault: Sendable {
    /// The exchange fails before it reaches the transport below.
    case failure(TransportError)
    /// The server gets the request, and the caller gets this error in place of the response.
    case lostReply(TransportError)
    /// The body of the response breaks off with this error, after so many bytes.
    case brokenBody(after: Int, TransportError)
    /// The exchange takes this long on the clock, and then the other thing happens; nil is nothing.
    indirect case delay(Duration, then: HTTPFault?)

    /// The exchange fails before it reaches the transport below; the server has done nothing.
    public static func fail(_ code: TransportError.Code = .connectionRefused) -> HTTPFault {
        .failure(
            TransportError(code, "An injected fault: the request was not sent.", processed: .no)
        )
    }

    /// The server gets the request and its reply is lost, so that it may have acted.
    public static func loseReply(_ code: TransportError.Code = .connectionLost) -> HTTPFault {
        .lostReply(
            TransportError(code, "An injected fault: the reply was lost.", processed: .maybe)
        )
    }

    /// The body of the response breaks off after so many bytes.
    public static func breakBody(after count: Int) -> HTTPFault {
        .brokenBody(
            after: count,
            TransportError(.truncatedBody, "An injected fault: the body broke off.")
        )
    }

    /// The exchange takes this long on the clock, and goes through.
    public static func delay(_ duration: Duration) -> HTTPFault { .delay(duration, then: nil) }
}

extension HTTPFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: HTTPFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
