internal import Foundation

/// Words that a document must have in its searchable fields.
public struct TextSearch: Sendable, Hashable {
    /// One word of a search.
    public struct Term: Sendable, Hashable {
        /// The word, without case and accents.
        public let word: String
        /// Whether words that only begin with it match too.
        public let isPrefix: Bool
    }

    /// The text as the caller wrote it.
    public let text: String
    /// The fields to look in; nil is all that the schema declares for the collection.
    public let fields: [FieldPath]?

    /// Creates a search for all words of a text; a word that ends in `*` matches as a prefix.
    public init(_ text: String, in fields: [FieldPath]? = nil) {
        self.text = text
        self.fields = fields
    }

    /// The words to find.
    ///
    /// A part such as `O'Hara*` gives several, of which the last is the prefix.
    public var terms: [Term] {
        text.split(whereSeparator: \.isWhitespace).flatMap { part -> [Term] in
            let words = TextWords.words(of: String(part))
            let endsInStar = part.last == "*"
            return words.enumerated().map { position, word in
                Term(word: word, isPrefix: endsInStar && position == words.count - 1)
            }
        }
    }
}

/// Splits text into the words that searches compare.
///
/// A word is a run of letters, digits and the marks between them, without case and accents. Every
/// adapter indexes these words and nothing else, so that each gives the same results; no database's
/// own rules for text take part.
package enum TextWords {
    /// The words of a text, in order, repeats included.
    package static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        // Decomposed, an accent is a scalar of its own and can be dropped.
        for scalar in text.lowercased().decomposedStringWithCanonicalMapping.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter,
                .otherLetter, .decimalNumber, .letterNumber, .otherNumber:
                word.append(scalar)
            case .nonspacingMark, .enclosingMark, .spacingMark:
                continue
            default:
                if !word.isEmpty { words.append(String(word)) }
                word = String.UnicodeScalarView()
            }
        }
        if !word.isEmpty { words.append(String(word)) }
        return words
    }

    /// The words of every string in a value: of an array's elements and a map's values too.
    package static func words(of value: DocumentValue) -> [String] {
        switch value {
        case .string(let text): words(of: text)
        case .array(let values): values.flatMap(words)
        case .map(let fields): fields.flatMap { words(of: $0.value) }
        default: []
        }
    }
}
