import HTTPTypes

/// What tells one state of a resource from another (RFC 9110 section 8.8).
struct Validators: Hashable, Sendable {
    let entityTag: String?
    let lastModified: String?

    /// Reads the validators of a response.
    init(_ fields: HTTPFields) {
        entityTag = fields[values: .eTag].first.flatMap { $0.isEmpty ? nil : $0 }
        lastModified = fields[values: .lastModified].first.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether a request can be made conditional with them.
    var isUsable: Bool { entityTag != nil || lastModified != nil }

    /// Whether a message about the same resource can be about the same state: none of its
    /// validators says otherwise.
    func agree(with other: Validators) -> Bool {
        if let mine = entityTag, let theirs = other.entityTag {
            return EntityTag(mine).matchesWeakly(EntityTag(theirs))
        }
        if let mine = lastModified, let theirs = other.lastModified { return mine == theirs }
        return true
    }
}
