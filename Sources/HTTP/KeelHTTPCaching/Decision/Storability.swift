import HTTPTypes
import KeelCache

/// Whether a response may be stored (RFC 9111 section 3), and which fields of it.
enum Storability {
    struct Exchange: Sendable {
        var request: HTTPFields
        var requestDirectives: RequestDirectives
        var response: HTTPResponse
        var received: CacheInstant
    }

    static func allows(_ exchange: Exchange, _ rules: CacheRules) -> Bool {
        let fields = exchange.response.headerFields
        let status = exchange.response.status.code
        let directives = ResponseDirectives(fields, rules)
        guard status >= 200, status != 304, !CacheRules.unstoredStatuses.contains(status),
            !exchange.requestDirectives.noStore,
            permitsStoring(directives, status),
            permitsSharing(exchange.request, directives, rules),
            status != 206 || StoredResponse.StoredPart(fields) != nil,
            !VaryMatch.isNeverMatched(fields)
        else { return false }
        let lifetime = FreshnessLifetime(
            status: status,
            fields: fields,
            directives: directives,
            received: exchange.received,
            rules: rules
        )
        let isAllowed =
            lifetime.isExplicit || directives.isPublic
            || (!rules.isShared && directives.isPrivate != .absent)
            || CacheRules.heuristicStatuses.contains(status)
        return isAllowed && isUseful(lifetime, fields, directives, status, rules)
    }

    private static func permitsStoring(_ directives: ResponseDirectives, _ status: Int) -> Bool {
        guard directives.mustUnderstand else { return !directives.noStore }
        return CacheRules.understoodStatuses.contains(status)
    }

    private static func permitsSharing(
        _ request: HTTPFields,
        _ directives: ResponseDirectives,
        _ rules: CacheRules
    ) -> Bool {
        guard rules.isShared else { return true }
        guard !directives.isPrivate.isWhole else { return false }
        return request[.authorization] == nil || directives.isPublic || directives.mustRevalidate
            || directives.sharedMaxAge.isPresent
    }

    /// Returns whether a response could ever be served or validated, even while offline.
    private static func isUseful(
        _ lifetime: FreshnessLifetime,
        _ fields: HTTPFields,
        _ directives: ResponseDirectives,
        _ status: Int,
        _ rules: CacheRules
    ) -> Bool {
        if Validators(fields).isUsable { return true }
        if directives.noCache.isWhole { return false }
        if lifetime.seconds > 0 { return true }
        let window = [directives.staleWhileRevalidate, directives.staleIfError]
        if window.contains(where: { ($0.valid ?? 0) > 0 }) { return true }
        // A call may accept a stored response of any age, or of an unreachable origin.
        return status == 200 && !directives.forbidsStale(rules)
    }

    static func storedFields(_ fields: HTTPFields, _ rules: CacheRules) -> HTTPFields {
        var unwanted = Set(FieldList.members(fields[values: .connection]).map { $0.lowercased() })
        unwanted.formUnion(connectionFields)
        if rules.isShared {
            unwanted.formUnion(ResponseDirectives(fields, rules).isPrivate.fields)
        }
        var kept = HTTPFields()
        for field in fields where !unwanted.contains(field.name.canonicalName) {
            kept.append(field)
        }
        return kept
    }

    /// Fields of one connection, or between a client and its proxy.
    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
        "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    ]
}
