/// A member of a `Cache-Status` field (RFC 9211): this cache's handling of a request.
struct CacheStatus: Hashable, Sendable {
    enum Forward: String, Hashable, Sendable {
        /// The request or the configuration bypassed the cache.
        case bypass
        case method
        /// Nothing is stored for the address.
        case uriMiss = "uri-miss"
        /// The stored responses were selected by other fields.
        case varyMiss = "vary-miss"
        case partial
        /// The stored response is usable, but the request demands more.
        case request
        case stale
    }

    var hit = false
    var forward: Forward?
    var forwardStatus: Int?
    var isStored = false
    var isCollapsed = false
    /// The remaining freshness in seconds; negative once the response is stale.
    var timeToLive: Int64?
    var detail: String?

    func text(_ name: String) -> String {
        var text = name
        if hit { text += "; hit" }
        if let forward { text += "; fwd=\(forward.rawValue)" }
        if let forwardStatus { text += "; fwd-status=\(forwardStatus)" }
        if let timeToLive { text += "; ttl=\(timeToLive)" }
        if isStored { text += "; stored" }
        if isCollapsed { text += "; collapsed" }
        if let detail { text += "; detail=\(detail)" }
        return text
    }
}
