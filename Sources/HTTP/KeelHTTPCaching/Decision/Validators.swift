import HTTPTypes

/// The validators that distinguish the states of a resource (RFC 9110 section 8.8).
struct Validators: Hashable, Sendable {
    let entityTag: String?
    let lastModified: String?

    init(_ fields: HTTPFields) {
        entityTag = fields[values: .eTag].first.flatMap { $0.isEmpty ? nil : $0 }
        lastModified = fields[values: .lastModified].first.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether they allow a conditional request.
    var isUsable: Bool { entityTag != nil || lastModified != nil }

    /// Returns whether no validator shows that two messages describe different states.
    func agree(with other: Validators) -> Bool {
        if let mine = entityTag, let theirs = other.entityTag {
            return EntityTag(mine).matchesWeakly(EntityTag(theirs))
        }
        if let mine = lastModified, let theirs = other.lastModified { return mine == theirs }
        return true
    }
}
