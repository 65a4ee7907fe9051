/// The words of a line, as shells split them.
///
/// White space separates words, except in quotes, after a backslash, and in a JSON object at the beginning of a word.
package struct ShellWords: Hashable, Sendable {
    /// The complete words.
    package private(set) var words: [String] = []
    /// The word at the end of the line, without quotes and backslashes; empty after white space.
    package private(set) var last = ""
    /// The number of characters of the last word in the line.
    package private(set) var lastCount = 0
    /// The quote that is open at the end.
    package private(set) var openQuote: Character?
    /// Whether a JSON object or an escape is incomplete.
    package private(set) var isIncomplete = false

    private enum Place: Hashable {
        case between
        case word
        case quoted(Character)
        case object
        case objectText
    }

    package init(_ line: String) {
        var place = Place.between
        var isEscaped = false
        var depth = 0
        for character in line {
            if place != .between || !character.isWhitespace { lastCount += 1 }
            if isEscaped {
                last.append(character)
                isEscaped = false
                if place == .between { place = .word }
                continue
            }
            switch place {
            case .between where character.isWhitespace: continue
            case .between where character == "{":
                place = .object
                depth = 1
                last.append(character)
            case .between, .word:
                switch character {
                case _ where character.isWhitespace:
                    words.append(last)
                    (last, lastCount, place) = ("", 0, .between)
                case "'", "\"": place = .quoted(character)
                case "\\":
                    isEscaped = true
                    place = .word
                default:
                    last.append(character)
                    place = .word
                }
            case .quoted(let quote):
                if character == quote {
                    place = .word
                } else if character == "\\", quote == "\"" {
                    isEscaped = true
                } else {
                    last.append(character)
                }
            case .object, .objectText:
                last.append(character)
                guard place == .object else {
                    if character == "\\" { isEscaped = true }
                    if character == "\"" { place = .object }
                    continue
                }
                switch character {
                case "\"": place = .objectText
                case "{": depth += 1
                case "}":
                    depth -= 1
                    if depth == 0 { place = .word }
                default: break
                }
            }
        }
        if case .quoted(let quote) = place { openQuote = quote }
        isIncomplete = isEscaped || place == .object || place == .objectText
        hasLast = place != .between
    }

    private var hasLast = false

    /// All words; nil if a quote, a brace or a backslash is open.
    package var all: [String]? {
        guard openQuote == nil, !isIncomplete else { return nil }
        return hasLast ? words + [last] : words
    }

    /// Returns a word with backslashes, so that it is parsed as one word.
    package static func escaped(_ word: String) -> String {
        word.reduce(into: "") { result, character in
            if character.isWhitespace || "'\"\\{".contains(character) { result.append("\\") }
            result.append(character)
        }
    }
}
