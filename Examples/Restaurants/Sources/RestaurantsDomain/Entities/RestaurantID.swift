/// The identifier of a restaurant at its source, unchanged by refreshes.
public struct RestaurantID: Hashable, Sendable {
    /// The id as text.
    public let text: String

    /// Creates an id.
    ///
    /// - Throws: ``DomainError`` unless the text has at most 100 ASCII letters, digits, `-` and `_` and begins with a
    ///   letter or digit.
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
    /// The maximum length of a name in characters.
    public static let longestName = 40

    /// The user's name.
    public let name: String

    /// Creates a user's id.
    ///
    /// - Throws: ``DomainError`` unless the name has at most ``longestName`` ASCII letters, digits, `.`, `-` and `_`
    ///   and begins with a letter.
    public init(_ name: String) throws(DomainError) {
        guard NameRule.isName(name, longest: Self.longestName, besides: ".-_"),
            name.first?.isLetter == true
        else { throw DomainError(.invalidUserName(name)) }
        self.name = name
    }

    private init(known name: String) { self.name = name }

    /// The user of this device who has no account.
    public static let onThisDevice = UserID(known: "me")
}

extension UserID: CustomStringConvertible {
    public var description: String { name }
}

/// The characters of names and ids, which are safe in URLs and file names.
private enum NameRule {
    static func isName(_ text: String, longest: Int, besides others: String) -> Bool {
        (1...longest).contains(text.count)
            && text.allSatisfy { character in
                character.isASCII
                    && (character.isLetter || character.isNumber || others.contains(character))
            }
    }
}
