import HTTPTypes
import KeelCache

/// The freshness lifetime of a response (RFC 9111 sections 4.2.1 and 4.2.2).
struct FreshnessLifetime: Hashable, Sendable {
    var seconds: Int64
    /// Whether the response states its lifetime, rather than the cache estimating it.
    var isExplicit: Bool

    /// Reads the lifetime of a response.
    ///
    /// An unreadable lifetime counts as stale; the heuristic never replaces it.
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

struct Freshness: Hashable, Sendable {
    var age: Int64
    var lifetime: Int64
    /// Whether the response must be validated whatever its age.
    var isOutdated: Bool

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

    /// The number of seconds by which the clock may have been set back since the receipt.
    ///
    /// Beyond that the age is unknown: a response received under a clock years ahead would
    /// otherwise stay fresh for years.
    private static let clockTolerance: Int64 = 60

    var isFresh: Bool { !isOutdated && lifetime > age }

    /// The remaining freshness in seconds; negative once the response is stale.
    var remaining: Int64 { isOutdated ? min(0, lifetime - age) : lifetime - age }

    var staleness: Int64 { max(0, -remaining) }
}

/// The age of a stored response (RFC 9111 section 4.2.3).
enum ResponseAge {
    static func seconds(of response: StoredResponse, at now: CacheInstant) -> Int64 {
        let received = response.received.seconds
        let apparent = date(of: response.fields, received: response.received).map {
            max(0, received - $0)
        }
        let delay = response.received.secondsSince(response.requested)
        let corrected = held(ageField(response.fields) + delay)
        let initial = max(held(apparent ?? 0), corrected)
        return held(initial + held(now.secondsSince(response.received)))
    }

    /// Returns the first member of the `Age` field, or 0 if it is not a number (section 5.1).
    static func ageField(_ fields: HTTPFields) -> Int64 {
        guard let line = fields[values: .age].first else { return 0 }
        return DeltaSeconds(FieldList.members(line).first).valid ?? 0
    }

    /// Returns when the response was made, or nil if its `Date` is missing or invalid.
    static func date(of fields: HTTPFields, received: CacheInstant) -> Int64? {
        guard let text = fields[values: .date].first else { return nil }
        return CacheDate.seconds(text, now: received.seconds)
    }

    private static func held(_ seconds: Int64) -> Int64 { min(seconds, DeltaSeconds.limit) }
}
