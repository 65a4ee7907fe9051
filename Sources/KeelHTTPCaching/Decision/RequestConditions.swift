import HTTPTypes
import KeelCache

/// The conditions that a request brings along (RFC 9110 section 13).
struct RequestConditions: Hashable, Sendable {
    /// The members of `If-None-Match`; nil where the request has none.
    let unlike: [String]?
    /// The text of `If-Modified-Since`, which does not count beside `If-None-Match`.
    let changedSince: String?
    /// Whether there are conditions that only the origin can judge.
    let concernOrigin: Bool

    /// Reads the conditions of a request.
    init(_ fields: HTTPFields) {
        let tags = fields[values: .ifNoneMatch]
        unlike = tags.isEmpty ? nil : FieldList.members(tags)
        changedSince = tags.isEmpty ? fields[.ifModifiedSince] : nil
        concernOrigin = fields[.ifMatch] != nil || fields[.ifUnmodifiedSince] != nil
    }

    /// Whether the client holds something that it may have to be told about.
    var isPresent: Bool { unlike != nil || changedSince != nil }

    /// Whether a stored response is what the client holds already, so that 304 is the answer (RFC
    /// 9111 section 4.3.2).
    func areMet(by response: StoredResponse, now: CacheInstant) -> Bool {
        guard response.status.code == 200, response.part == nil else { return false }
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

    /// Whether the range of a request may be taken from a stored response (`If-Range`, RFC 9110
    /// section 13.1.5): only where the validator is strong and the same.
    static func permitRange(_ request: HTTPFields, of response: StoredResponse) -> Bool {
        guard let condition = request[.ifRange] else { return true }
        let validators = Validators(response.fields)
        if condition.hasPrefix("\"") || condition.hasPrefix("W/") {
            guard let tag = validators.entityTag else { return false }
            return EntityTag(condition).matchesStrongly(EntityTag(tag))
        }
        // A date is strong if the response was made at least a second after it (section 8.8.2.2).
        guard validators.lastModified == condition,
            let changed = CacheDate.seconds(condition, now: response.received.seconds),
            let made = ResponseAge.date(of: response.fields, received: response.received)
        else { return false }
        return made > changed
    }
}
