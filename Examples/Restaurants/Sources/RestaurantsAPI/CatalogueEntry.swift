internal import Foundation

/// What is wrong with a line.
struct LineFlaw: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension RestaurantCatalogue.Entry {
    /// What must be in a line to find it again.
    private struct Header: Decodable {
        struct Address: Decodable { var street: String? }

        var id: String
        var name: String
        var cuisine: String?
        var borough: String?
        var address: Address?
    }

    init(_ line: [UInt8]) throws(LineFlaw) {
        let header: Header
        do {
            header = try JSONDecoder().decode(Header.self, from: Data(line))
        } catch {
            throw LineFlaw(error)
        }
        guard !header.id.isEmpty else { throw LineFlaw("the id is empty") }
        let texts = [header.name, header.cuisine, header.borough, header.address?.street]
        self.init(
            id: header.id,
            json: line,
            words: Set(texts.compactMap { $0 }.flatMap(SearchWord.split))
        )
    }
}

extension LineFlaw {
    fileprivate init(_ error: any Error) {
        switch error {
        case DecodingError.keyNotFound(let key, _):
            self.init("there is no “\(key.stringValue)”")
        case DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context):
            let place = context.codingPath.map(\.stringValue).joined(separator: ".")
            self.init(
                place.isEmpty
                    ? "this is no JSON object" : "“\(place)”: \(context.debugDescription)"
            )
        default:
            self.init("this is not JSON")
        }
    }
}

/// A word that is searched for.
struct SearchWord: Sendable {
    private let word: String
    private let isPrefix: Bool

    static func words(of text: String) -> [SearchWord] {
        text.split(separator: " ").flatMap { part -> [SearchWord] in
            let words = split(String(part))
            return words.enumerated().map { index, word in
                SearchWord(word: word, isPrefix: part.hasSuffix("*") && index == words.count - 1)
            }
        }
    }

    /// The words of a text, without case and accents.
    static func split(_ text: String) -> [String] {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            .split { !$0.isLetter && !$0.isNumber }
            .map(String.init)
    }

    func isIn(_ words: Set<String>) -> Bool {
        isPrefix ? words.contains { $0.hasPrefix(word) } : words.contains(word)
    }
}
