/// The tags of `ETag` and `If-None-Match` (RFC 9110 section 8.8.3).
struct EntityTag: Hashable, Sendable {
    /// The tag with its quotes and without the mark of weakness; what is no entity tag as a whole.
    let opaque: String
    /// Whether it is marked as weak.
    let isWeak: Bool

    /// Reads a tag.
    ///
    /// What is not well formed is a strong tag of just that text for the weak comparison, and
    /// ``isWellFormed`` says so.
    init(_ text: String) {
        isWeak = text.hasPrefix("W/\"")
        opaque = isWeak ? String(text.dropFirst(2)) : text
    }

    /// Whether it has its two quotes.
    var isWellFormed: Bool {
        opaque.utf8.count >= 2 && opaque.hasPrefix("\"") && opaque.hasSuffix("\"")
    }

    /// Whether two representations are the same byte by byte.
    func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && isWellFormed && opaque == other.opaque
    }

    /// Whether two representations can stand in for each other.
    func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }
}
