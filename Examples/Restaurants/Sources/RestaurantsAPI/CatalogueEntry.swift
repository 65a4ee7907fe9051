internal import Foundation

struct LineFlaw: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension RestaurantCatalogue.Entry {
    /// The required fields of a line, by which it is found.
    private struct Header: Decodable {
        /// The address in the service's format; that of another format has no text.
        struct Address: Decodable {
            let text: String?

            init(from decoder: any Decoder) {
                text = try? decoder.singleValueContainer().decode(String.self)
            }
        }

        var id: String
        var name: String
        var cuisine: String?
        var borough: String?
        var address: Address?
    }

    init(_ line: [UInt8]) throws(LineFlaw) {
        var (line, header) = (line, try Self.decoded(Header.self, from: line))
        if let address = header.address, address.text == nil {
            line = try Self.decoded(InspectedRestaurant.self, from: line).json()
            header = try Self.decoded(Header.self, from: line)
        }
        guard !header.id.isEmpty else { throw LineFlaw("the id is empty") }
        let texts = [header.name, header.cuisine, header.borough, header.address?.text]
        self.init(
            id: header.id,
            json: line,
            words: Set(texts.compactMap { $0 }.flatMap(SearchWord.split))
        )
    }

    private static func decoded<Form: Decodable>(
        _ form: Form.Type,
        from line: [UInt8]
    ) throws(LineFlaw) -> Form {
        do {
            return try JSONDecoder().decode(form, from: Data(line))
        } catch {
            throw LineFlaw(error)
        }
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
                    ? "this is not a JSON object" : "“\(place)”: \(context.debugDescription)"
            )
        default:
            self.init("this is not JSON")
        }
    }
}

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

    /// Returns the words of a text, without case and accents.
    static func split(_ text: String) -> [String] {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            .split { !$0.isLetter && !$0.isNumber }
            .map(String.init)
    }

    func isIn(_ words: Set<String>) -> Bool {
        isPrefix ? words.contains { $0.hasPrefix(word) } : words.contains(word)
    }
}
