/// What identifies a restaurant at its source, the same after every refresh.
public struct RestaurantID: Hashable, Sendable {
    /// The id as text.
    public let text: String

    /// Creates an id.
    ///
    /// - Throws: ``DomainError`` unless the text is made of up to 100 ASCII letters, digits, `-`
    ///   and `_` and begins with a letter or digit.
    public init(_ text: String) throws(DomainError) {
        guard NameRule.isName(text, longest: 100, besides: "-_"), text.first != "-",
            text.first != "_"
        else { throw DomainError(.invalidRestaurantID(text)) }
        self.text = text
    }
}

extension RestaurantID: CustomStringConvertible {
    public var description: String { text }
}

/// A user of the app, by name.
public struct UserID: Hashable, Sendable {
    /// How many characters a name may have.
    public static let longestName = 40

    /// The user's name.
    public let name: String

    /// Creates a user's id.
    ///
    /// - Throws: ``DomainError`` unless the name is made of up to ``longestName`` ASCII letters,
    ///   digits, `.`, `-` and `_` and begins with a letter.
    public init(_ name: String) throws(DomainError) {
        guard NameRule.isName(name, longest: Self.longestName, besides: ".-_"),
            name.first?.isLetter == true
        else { throw DomainError(.invalidUserName(name)) }
        self.name = name
    }

    private init(known name: String) { self.name = name }

    /// Whoever uses this device without an account.
    public static let onThisDevice = UserID(known: "me")
}

extension UserID: CustomStringConvertible {
    public var description: String { name }
}

/// What names and ids are made of, so that they are safe in addresses and file names.
private enum NameRule {
    static func isName(_ text: String, longest: Int, besides others: String) -> Bool {
        (1...longest).contains(text.count)
            && text.allSatisfy { character in
                character.isASCII
                    && (character.isLetter || character.isNumber || others.contains(character))
            }
    }
}
