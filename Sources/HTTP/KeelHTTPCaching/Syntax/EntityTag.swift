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
