/// A user with an account at the restaurant service.
public struct User: Hashable, Sendable {
    /// The id that the user's favourites and ratings are stored under.
    public let id: UserID
    /// The display name.
    public let name: String
    /// The e-mail address.
    public let email: EmailAddress

    /// Creates a user.
    public init(id: UserID, name: String, email: EmailAddress) {
        self.id = id
        self.name = name
        self.email = email
    }
}

/// An e-mail address, validated as far as possible without sending a message.
public struct EmailAddress: Hashable, Sendable {
    /// The address as text.
    public let text: String

    /// Creates an address.
    ///
    /// - Throws: ``DomainError`` unless the text has at most 254 characters, no spaces, and one `@` between a name and
    ///   a domain with a dot.
    public init(_ text: String) throws(DomainError) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let name = parts.first, let place = parts.last, !name.isEmpty,
            text.count <= 254, !text.contains(where: \.isWhitespace),
            place.split(separator: ".", omittingEmptySubsequences: false).count > 1,
            !place.hasPrefix("."), !place.hasSuffix(".")
        else { throw DomainError(.invalidEmail(text)) }
        self.text = text
    }
}

extension EmailAddress: CustomStringConvertible {
    public var description: String { text }
}
