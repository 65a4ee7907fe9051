import HTTPTypes

/// What a cache decides by, apart from the messages and the time.
struct CacheRules: Hashable, Sendable {
    /// Whether several users share the cache.
    var isShared = false
    /// Whether stored responses are used without the cookies that they set.
    var dropsCookies = false
    /// Which part of a resource's age is taken for its freshness where nobody says it.
    var heuristicFraction = 0.1
    /// The most seconds that may be guessed.
    var heuristicLimit: Int64 = 86_400
    /// Fields that take the place of `Cache-Control`, the first one first (RFC 9213).
    var targetedFields: [HTTPField.Name] = []
    /// For how many seconds past its freshness a response may stand in for an origin that cannot be
    /// reached; nil for never.
    var offlineLimit: Int64?
    /// For how many seconds past its freshness a response may stand in for an origin that fails, where
    /// neither it nor the request says so; nil for never.
    var errorLimit: Int64?

    /// Statuses whose responses may be kept although nothing says for how long (RFC 9110 section
    /// 15.1).
    static let heuristicStatuses: Set<Int> = [
        200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
    ]

    /// Statuses whose meaning for caches is known, for `must-understand` (RFC 9111 section
    /// 5.2.2.3).
    static let understoodStatuses: Set<Int> = Set(200...208).union([226])
        .union(300...305).union([307, 308])
        .union(400...417).union([421, 422, 423, 424, 425, 426, 428, 429, 431, 451])
        .union(500...508).union([510, 511])

    /// Statuses that RFC 5861 counts as errors that a stale response may stand in for.
    static let errorStatuses: Set<Int> = [500, 502, 503, 504]
}
