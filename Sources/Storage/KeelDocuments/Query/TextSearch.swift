internal import Foundation

/// The words that a document must contain in its searchable fields.
public struct TextSearch: Sendable, Hashable {
    /// One word of a search.
    public struct Term: Sendable, Hashable {
        /// The word, without case and accents.
        public let word: String
        /// Whether the term matches every word that begins with it.
        public let isPrefix: Bool

        /// The word in each spelling that words may have: the last sigma of a word has two lowercase forms, whose bytes
        /// follow each other.
        package var spellings: [String] {
            guard word.unicodeScalars.last == "σ" || word.unicodeScalars.last == "ς" else {
                return [word]
            }
            let beginning = String(word.unicodeScalars.dropLast())
            return [beginning + "ς", beginning + "σ"]
        }
    }

    /// The search text as the caller wrote it.
    public let text: String
    /// The fields to search, at least one; nil for those of the schema's first definition for the collection.
    public let fields: [FieldPath]?

    /// Creates a search for all words of a text; a word that ends in `*` is a prefix.
    public init(_ text: String, in fields: [FieldPath]? = nil) {
        self.text = text
        self.fields = fields
    }

    /// The words to find.
    ///
    /// A part such as `O'Hara*` yields several terms, of which only the last is a prefix.
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
/// A word is a run of letters, digits and their marks, without case and accents, on every adapter.
package enum TextWords {
    /// Returns the words of a text, including repeats.
    package static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        // In decomposed form, an accent is a separate scalar, which is dropped.
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

    /// Returns the words of every string in a value, including array elements and map values.
    package static func words(of value: DocumentValue) -> [String] {
        switch value {
        case .string(let text): words(of: text)
        case .array(let values): values.flatMap(words)
        case .map(let fields): fields.flatMap { words(of: $0.value) }
        default: []
        }
    }
}
