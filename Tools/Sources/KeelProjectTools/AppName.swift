internal import KeelToolSupport

/// The name of a new app, in the forms for its files.
package struct AppName: Hashable, Sendable {
    /// The prefix of its modules: `ShoppingList`.
    package let module: String
    /// The name of its executable: `shopping-list`.
    package let program: String
    /// The prefix of its environment variables: `SHOPPING_LIST`.
    package let variable: String

    /// Parses a name, such as `ShoppingList`, `shopping-list` or `shopping list`.
    ///
    /// - Throws: `ToolError` for more than 40 letters and digits, other letters than ASCII, no letter at the beginning,
    ///   or a module's name that is taken.
    package init(_ text: String) throws {
        let words = Self.words(of: text)
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        guard let first = words.first?.first, first.isLetter, isASCII, words.joined().count <= 40
        else {
            throw ToolError(
                "“\(text)” is not a valid app name",
                advice: "Use up to 40 letters and digits, beginning with a letter: ShoppingList.",
                exit: .usage
            )
        }
        module = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        program = words.joined(separator: "-").lowercased()
        variable = words.joined(separator: "_").uppercased()
        guard !Self.taken.contains(module) else {
            throw ToolError(
                "“\(module)” is the name of a module that the app uses",
                advice: "Choose another name.",
                exit: .usage
            )
        }
    }

    /// The names of modules of the app's dependencies: SwiftPM refuses two modules with the same name.
    private static let taken: Set<String> = [
        "Keel", "KeelStorage", "KeelTestKit", "Foundation", "Swift", "Testing", "Note",
        "Synchronization", "Algorithms", "Atomics", "Collections", "Crypto", "Dispatch", "Logging",
        "Metrics", "NIO", "Observation", "Tracing",
    ]

    /// Splits at characters other than letters and digits, and before capitals after small letters.
    private static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = ""
        var previous: Character?
        for character in text {
            let begins = character.isUppercase && previous?.isUppercase == false
            if !character.isLetter && !character.isNumber || begins {
                if !word.isEmpty { words.append(word) }
                word = ""
            }
            if character.isLetter || character.isNumber { word.append(character) }
            previous = character
        }
        if !word.isEmpty { words.append(word) }
        return words
    }
}
