public import KeelHTTP

/// Where a response came from, as the cache between the caller and the origin tells.
public enum HTTPCacheResult: Hashable, Sendable {
    /// A stored response that was fresh; the origin was not asked.
    case fresh
    /// A stored response of which the origin said that it is still good.
    case revalidated
    /// A stored response that is past its freshness.
    case stale(StaleReason)
    /// The origin, or another cache on the way to it.
    case network
    /// Nobody: nothing that may be used was stored, and the origin was not to be asked. The status
    /// is 504 then.
    case missing

    /// Why a response was used although it is past its freshness.
    public enum StaleReason: Hashable, Sendable {
        /// The request, or its policy, allows it.
        case requested
        /// It is being revalidated for the next caller (`stale-while-revalidate`, RFC 5861).
        case whileRevalidating
        /// The origin failed (`stale-if-error`, RFC 5861).
        case serverError
        /// The origin could not be reached.
        case offline
    }

    /// Whether the origin was not needed for this response, or could not be reached for it.
    public var isFromCache: Bool {
        switch self {
        case .fresh, .revalidated, .stale: true
        case .network, .missing: false
        }
    }
}

private enum CacheResultKey: HTTPReplyNoteKey {
    static var defaultValue: HTTPCacheResult? { nil }
}

extension HTTPReply {
    /// Where the reply came from; nil where no cache was asked.
    public var cacheResult: HTTPCacheResult? { notes[CacheResultKey.self] }

    /// Notes where the reply came from.
    func noting(_ result: HTTPCacheResult) -> HTTPReply {
        var reply = self
        reply.notes[CacheResultKey.self] = result
        return reply
    }
}

extension NetworkResponse {
    /// Where the response came from; nil where no cache was asked.
    public var cacheResult: HTTPCacheResult? { notes[CacheResultKey.self] }
}
