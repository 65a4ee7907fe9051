public import KeelCache

/// What goes wrong with one call of a cache tier.
public enum CacheTierFault: Sendable {
    /// The call fails before it reaches the tier below.
    case failure(CacheError)
    /// The call takes effect, and its caller gets this error in place of the answer.
    case lostReply(CacheError)
    /// The call takes this long on the clock, and then the other thing happens; nil is nothing.
    indirect case delay(Duration, then: CacheTierFault?)

    /// The call fails before it reaches the tier below; nothing has happened.
    public static func fail(_ code: CacheError.Code = .unavailable) -> CacheTierFault {
        .failure(CacheError(code, "an injected fault: the call did not get through"))
    }

    /// The call takes effect and its reply is lost.
    public static func loseReply(_ code: CacheError.Code = .unavailable) -> CacheTierFault {
        .lostReply(CacheError(code, "an injected fault: the reply was lost"))
    }

    /// The call takes this long on the clock, and goes through.
    public static func delay(_ duration: Duration) -> CacheTierFault {
        .delay(duration, then: nil)
    }
}

extension CacheTierFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: CacheTierFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
