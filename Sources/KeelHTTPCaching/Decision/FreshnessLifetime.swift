import HTTPTypes
import KeelCache

/// How long a response is fresh (RFC 9111 sections 4.2.1 and 4.2.2).
struct FreshnessLifetime: Hashable, Sendable {
    /// In seconds from the making of the response; zero where it is stale from the start.
    var seconds: Int64
    /// Whether the response says so itself, rather than the cache guessing.
    var isExplicit: Bool

    /// Reads the lifetime of a response.
    ///
    /// What is there and cannot be read counts as stale: a rule that nobody understands is never
    /// replaced by a guess.
    init(
        status: Int,
        fields: HTTPFields,
        directives: ResponseDirectives,
        received: CacheInstant,
        rules: CacheRules
    ) {
        isExplicit = true
        if rules.isShared, let limit = directives.sharedMaxAge.strict {
            seconds = limit
        } else if let limit = directives.maxAge.strict {
            seconds = limit
        } else if !directives.isTargeted, !fields[values: .expires].isEmpty {
            seconds = Self.untilExpires(fields, received)
        } else {
            isExplicit = false
            seconds = 0
            if CacheRules.heuristicStatuses.contains(status) || directives.isPublic {
                seconds = Self.guess(fields, received, rules)
            }
        }
    }

    private static func untilExpires(_ fields: HTTPFields, _ received: CacheInstant) -> Int64 {
        let lines = Set(fields[values: .expires])
        guard lines.count == 1, let line = lines.first,
            let expires = CacheDate.seconds(line, now: received.seconds)
        else { return 0 }
        let made = ResponseAge.date(of: fields, received: received) ?? received.seconds
        return min(max(0, expires - made), DeltaSeconds.limit)
    }

    private static func guess(
        _ fields: HTTPFields,
        _ received: CacheInstant,
        _ rules: CacheRules
    ) -> Int64 {
        guard let line = fields[values: .lastModified].first,
            let changed = CacheDate.seconds(line, now: received.seconds)
        else { return 0 }
        let made = ResponseAge.date(of: fields, received: received) ?? received.seconds
        let fraction = min(max(rules.heuristicFraction, 0), 1)
        let guess = (Double(max(0, made - changed)) * fraction).rounded(.down)
        return min(Int64(exactly: guess) ?? 0, rules.heuristicLimit)
    }
}

/// How fresh a stored response is at one moment.
struct Freshness: Hashable, Sendable {
    /// The age in seconds.
    var age: Int64
    /// For how many seconds the response is fresh in all.
    var lifetime: Int64
    /// Whether it must be validated although it is not old.
    var isOutdated: Bool

    /// Looks at a stored response.
    init(
        _ response: StoredResponse,
        _ directives: ResponseDirectives,
        at now: CacheInstant,
        _ rules: CacheRules
    ) {
        age = ResponseAge.seconds(of: response, at: now)
        lifetime =
            FreshnessLifetime(
                status: response.status.code,
                fields: response.fields,
                directives: directives,
                received: response.received,
                rules: rules
            ).seconds
        isOutdated =
            response.isOutdated
            || response.received.secondsSince(now) > Self.clockTolerance
    }

    /// By how many seconds a clock may have been set back since a response was received.
    ///
    /// Beyond that the age of a response is unknown: a response that was received under a clock that was
    /// years ahead would stay fresh for years.
    private static let clockTolerance: Int64 = 60

    /// Whether it may be used without asking, as far as its age goes.
    var isFresh: Bool { !isOutdated && lifetime > age }

    /// For how many seconds it stays fresh; negative once it is stale.
    var remaining: Int64 { isOutdated ? min(0, lifetime - age) : lifetime - age }

    /// For how many seconds it has been stale.
    var staleness: Int64 { max(0, -remaining) }
}
