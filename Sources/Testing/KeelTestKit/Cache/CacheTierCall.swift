public import KeelCache

/// A call to a cache tier, with its arguments.
public enum CacheTierCall: Sendable {
    /// The kinds of call.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A record was requested.
        case read
        /// Records were written.
        case write
        /// Records were removed.
        case remove
        /// Writes were flushed.
        case flush
        /// A file for a large value was opened for writing.
        case makeFile
        /// Usage counts were requested.
        case usage
    }

    /// `read(_:)`
    case read([UInt8])
    /// `write(_:)`
    case write([CacheRecord])
    /// `remove(_:)`
    case remove(CacheSelection)
    /// `flush()`
    case flush
    /// `makeFile()`
    case makeFile
    /// `usage()`
    case usage

    /// The kind of call.
    public var kind: Kind {
        switch self {
        case .read: .read
        case .write: .write
        case .remove: .remove
        case .flush: .flush
        case .makeFile: .makeFile
        case .usage: .usage
        }
    }
}

/// A fault in one call to a cache tier.
public enum CacheTierFault: Sendable {
    /// The call fails before it reaches the tier below.
    case failure(CacheError)
    /// The call takes effect, but the caller gets this error.
    case lostReply(CacheError)
    /// The call is delayed on the clock, then the other fault applies; nil lets it through.
    indirect case delay(Duration, then: CacheTierFault?)

    /// Fails the call before it reaches the tier below.
    public static func fail(_ code: CacheError.Code = .unavailable) -> CacheTierFault {
        .failure(CacheError(code, "an injected fault: the call did not get through"))
    }

    /// Lets the call take effect and loses its reply.
    public static func loseReply(_ code: CacheError.Code = .unavailable) -> CacheTierFault {
        .lostReply(CacheError(code, "an injected fault: the reply was lost"))
    }

    /// Delays the call on the clock, then lets it through.
    public static func delay(_ duration: Duration) -> CacheTierFault {
        .delay(duration, then: nil)
    }
}

extension CacheTierFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: CacheTierFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
