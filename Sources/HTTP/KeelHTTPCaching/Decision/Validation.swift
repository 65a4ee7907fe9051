import HTTPTypes
import KeelCache
import KeelHTTP

/// The validation of a stored response by the origin (RFC 9111 section 4.3).
enum Validation {
    /// Returns the request's fields with the conditions for a stored response.
    ///
    /// Names the client's copies beside the stored response, so that either saves the origin a
    /// body. The client's date does not count beside an entity tag.
    static func conditional(_ request: HTTPFields, for stored: StoredResponse) -> HTTPFields {
        var fields = request
        let validators = Validators(stored.fields)
        let clients = FieldList.members(request[values: .ifNoneMatch])
        if let tag = validators.entityTag {
            let others = clients.filter { $0 != tag && $0 != "*" }
            fields[.ifNoneMatch] = ([tag] + others).joined(separator: ", ")
        } else if !clients.isEmpty {
            // An origin ignores dates beside the client's tags, so there is nothing to add.
            return fields
        }
        fields[.ifModifiedSince] = validators.lastModified
        return fields
    }

    enum Subject: Hashable, Sendable {
        case stored
        /// The client's copy is valid; nothing is known about the stored response.
        case client
        case neither
    }

    /// Returns the subject of a response with status 304 (section 4.3.4).
    static func subject(
        of reply: HTTPFields,
        stored: StoredResponse,
        client request: HTTPFields
    ) -> Subject {
        let mine = Validators(stored.fields)
        let theirs = Validators(reply)
        let clients = FieldList.members(request[values: .ifNoneMatch])
        let clientHasMore = clients.contains { $0 != mine.entityTag }
        if theirs.entityTag == nil, clientHasMore { return .client }
        if mine.agree(with: theirs) { return .stored }
        if clientHasMore || (request[.ifModifiedSince] != nil && clients.isEmpty) {
            return .client
        }
        return .neither
    }

    /// Returns a stored response updated by a newer message about the same state (section 3.2).
    static func freshened(
        _ stored: StoredResponse,
        with reply: HTTPFields,
        requested: CacheInstant,
        received: CacheInstant,
        _ rules: CacheRules
    ) -> StoredResponse {
        var fresh = stored
        var news = Storability.storedFields(reply, rules)
        for name in keptFields(of: stored) { news[name] = nil }
        // The old fields refer to a moment that no longer counts.
        fresh.fields[.age] = nil
        fresh.fields[.date] = nil
        for name in Set(news.map(\.name)) { fresh.fields[fields: name] = news[fields: name] }
        fresh.requested = requested
        fresh.received = received
        fresh.isOutdated = false
        return fresh.dated()
    }

    /// Returns fields that describe the stored bytes, which the newer message did not bring.
    private static func keptFields(of stored: StoredResponse) -> [HTTPField.Name] {
        var names: [HTTPField.Name] = [.contentLength]
        // A lower layer may have decoded the body: it stays decoded.
        if stored.fields[.contentEncoding] == nil { names.append(.contentEncoding) }
        if stored.part != nil { names.append(.contentRange) }
        return names
    }

    /// Returns whether the response to a `HEAD` request describes the stored state (section 4.3.5).
    static func describes(_ head: HTTPFields, _ stored: StoredResponse) -> Bool {
        guard Validators(stored.fields).agree(with: Validators(head)) else { return false }
        guard let announced = head[.contentLength], let kept = stored.fields[.contentLength] else {
            return true
        }
        return announced == kept
    }
}

extension StoredResponse {
    /// Returns the response with a `Date`, by default the time of its receipt (RFC 9110 section 6.6.1).
    func dated() -> StoredResponse {
        guard fields[.date] == nil else { return self }
        var dated = self
        dated.fields[.date] = HTTPDate.text(received.seconds)
        return dated
    }
}

/// The validators that distinguish the states of a resource (RFC 9110 section 8.8).
struct Validators: Hashable, Sendable {
    let entityTag: String?
    let lastModified: String?

    init(_ fields: HTTPFields) {
        entityTag = fields[values: .eTag].first.flatMap { $0.isEmpty ? nil : $0 }
        lastModified = fields[values: .lastModified].first.flatMap { $0.isEmpty ? nil : $0 }
    }

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

/// An entity tag of `ETag` or `If-None-Match` (RFC 9110 section 8.8.3).
struct EntityTag: Hashable, Sendable {
    /// The tag with its quotes, without the weakness prefix; the whole text if it is malformed.
    let opaque: String
    let isWeak: Bool

    /// Reads a tag.
    ///
    /// A malformed text is compared weakly as a strong tag; see ``isWellFormed``.
    init(_ text: String) {
        isWeak = text.hasPrefix("W/\"")
        opaque = isWeak ? String(text.dropFirst(2)) : text
    }

    /// Whether it has both quotes.
    var isWellFormed: Bool {
        opaque.utf8.count >= 2 && opaque.hasPrefix("\"") && opaque.hasSuffix("\"")
    }

    /// Returns whether two representations are identical byte for byte.
    func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && isWellFormed && opaque == other.opaque
    }

    /// Returns whether two representations are equivalent.
    func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
