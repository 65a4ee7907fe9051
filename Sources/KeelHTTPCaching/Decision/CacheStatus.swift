/// One member of a `Cache-Status` field (RFC 9211): what this cache did with a request.
struct CacheStatus: Hashable, Sendable {
    /// Why a request went on to the origin.
    enum Forward: String, Hashable, Sendable {
        /// The cache was told not to handle the request.
        case bypass
        /// The method is one that a cache passes on.
        case method
        /// Nothing is kept under the address.
        case uriMiss = "uri-miss"
        /// What is kept was selected by other fields.
        case varyMiss = "vary-miss"
        /// What is kept is only another part of it.
        case partial
        /// What is kept could be used, but the request asks for more.
        case request
        /// What is kept has to be validated.
        case stale
    }

    var hit = false
    var forward: Forward?
    var forwardStatus: Int?
    var isStored = false
    var isCollapsed = false
    /// For how many seconds the response stays fresh; negative once it is stale.
    var timeToLive: Int64?
    var detail: String?

    /// The member as text, under the name of a cache.
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
