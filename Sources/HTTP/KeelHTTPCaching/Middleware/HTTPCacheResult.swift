public import KeelHTTP

/// The source of a response, as reported by the cache.
public enum HTTPCacheResult: Hashable, Sendable {
    /// A fresh stored response; the origin was not asked.
    case fresh
    /// A stored response that the origin confirmed.
    case revalidated
    /// A stale stored response.
    case stale(StaleReason)
    /// The origin, or another cache in between.
    case network
    /// No usable response was stored, and the call excluded the origin. The status is 504.
    case missing

    /// The reason a stale response was served.
    public enum StaleReason: Hashable, Sendable {
        /// The request or its policy allows it.
        case requested
        /// It is being revalidated for the next caller (`stale-while-revalidate`, RFC 5861).
        case revalidating
        /// The origin failed (`stale-if-error`, RFC 5861).
        case serverError
        /// The origin was unreachable.
        case offline
    }

    /// Whether the cache provided the response, confirmed by the origin or not.
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
    /// The source of the reply; nil if no cache was asked.
    public var cacheResult: HTTPCacheResult? { notes[CacheResultKey.self] }

    consuming func noting(_ result: HTTPCacheResult) -> HTTPReply {
        notes[CacheResultKey.self] = result
        return self
    }
}

extension NetworkResponse {
    /// The source of the response; nil if no cache was asked.
    public var cacheResult: HTTPCacheResult? { notes[CacheResultKey.self] }
}
