import HTTPTypes

/// The rules for a cache's decisions, besides messages and time.
struct CacheRules: Hashable, Sendable {
    var isShared = false
    var dropsCookies = false
    var heuristicFraction = 0.1
    /// The maximum heuristic lifetime, in seconds.
    var heuristicLimit: Int64 = 86_400
    var targetedFields: [HTTPField.Name] = []
    /// The maximum staleness in seconds while the origin is unreachable; nil for never.
    var offlineLimit: Int64?
    /// The maximum staleness in seconds of a response served for a failing origin if neither the
    /// response nor the request states one; nil for never.
    var errorLimit: Int64?

    /// Statuses whose responses may be stored without a stated lifetime (RFC 9110 section 15.1).
    static let heuristicStatuses: Set<Int> = [
        200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
    ]

    /// Statuses with a known meaning for caches, for `must-understand` (RFC 9111 section 5.2.2.3).
    static let understoodStatuses: Set<Int> = Set(200...208).union([226])
        .union(300...305).union([307, 308])
        .union(400...417).union([421, 422, 423, 424, 425, 426, 428, 429, 431, 451])
        .union(500...508).union([510, 511])

    /// Statuses whose responses are not stored.
    ///
    /// By 412, 416 and 417, the origin refuses a condition, range or expectation of one request, which others may not
    /// have. RFC 6585 forbids storing the others.
    static let unstoredStatuses: Set<Int> = [412, 416, 417, 428, 429, 431, 511]

    /// Statuses of errors for which RFC 5861 allows a stale response.
    static let errorStatuses: Set<Int> = [500, 502, 503, 504]
}
