import HTTPTypes
import KeelCache

/// The conditions of a request (RFC 9110 section 13).
struct RequestConditions: Hashable, Sendable {
    /// The members of `If-None-Match`; nil if the request has none.
    let unlike: [String]?
    /// The text of `If-Modified-Since`, which is ignored beside `If-None-Match`.
    let changedSince: String?
    let concernOrigin: Bool

    init(_ fields: HTTPFields) {
        let tags = fields[values: .ifNoneMatch]
        unlike = tags.isEmpty ? nil : FieldList.members(tags)
        changedSince = tags.isEmpty ? fields[.ifModifiedSince] : nil
        concernOrigin = fields[.ifMatch] != nil || fields[.ifUnmodifiedSince] != nil
    }

    /// Whether the client has a copy that the cache can confirm.
    var isPresent: Bool { unlike != nil || changedSince != nil }

    /// Returns whether a stored response equals the client's copy, so that the answer is 304 (RFC 9111 section 4.3.2).
    func areMet(by response: StoredResponse, now: CacheInstant) -> Bool {
        guard isPresent, response.status.code == 200, response.part == nil else { return false }
        let validators = Validators(response.fields)
        if let unlike {
            if unlike == ["*"] { return true }
            guard let tag = validators.entityTag.map(EntityTag.init) else { return false }
            return unlike.contains { EntityTag($0).matchesWeakly(tag) }
        }
        guard let changedSince, let limit = CacheDate.seconds(changedSince, now: now.seconds) else {
            return false
        }
        let changed =
            validators.lastModified.map { CacheDate.seconds($0, now: now.seconds) }
            ?? ResponseAge.date(of: response.fields, received: response.received)
            ?? response.received.seconds
        return changed.map { $0 <= limit } ?? false
    }

    /// Returns whether a request's range may be taken from a stored response: only if the validator
    /// of `If-Range` is strong and the same (RFC 9110 section 13.1.5).
    static func permitRange(_ request: HTTPFields, of response: StoredResponse) -> Bool {
        guard let condition = request[.ifRange] else { return true }
        let validators = Validators(response.fields)
        if condition.hasPrefix("\"") || condition.hasPrefix("W/") {
            guard let tag = validators.entityTag else { return false }
            return EntityTag(condition).matchesStrongly(EntityTag(tag))
        }
        // A date is strong if the response was made at least a second later (section 8.8.2.2).
        guard validators.lastModified == condition,
            let changed = CacheDate.seconds(condition, now: response.received.seconds),
            let made = ResponseAge.date(of: response.fields, received: response.received)
        else { return false }
        return made > changed
    }
}
