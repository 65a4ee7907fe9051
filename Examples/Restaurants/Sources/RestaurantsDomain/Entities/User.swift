/// A user who has an account at the restaurant service.
public struct User: Hashable, Sendable {
    /// What favourites and ratings of the user are kept under.
    public let id: UserID
    /// How the user wants to be called.
    public let name: String
    /// Where the user is reached.
    public let email: EmailAddress

    /// Creates a user.
    public init(id: UserID, name: String, email: EmailAddress) {
        self.id = id
        self.name = name
        self.email = email
    }
}

/// An e-mail address, as far as that can be told without writing to it.
public struct EmailAddress: Hashable, Sendable {
    /// The address as text.
    public let text: String

    /// Creates an address.
    ///
    /// - Throws: ``DomainError`` unless the text is up to 254 characters long, without spaces, and
    ///   has a name and a place with a dot on the two sides of one `@`.
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
