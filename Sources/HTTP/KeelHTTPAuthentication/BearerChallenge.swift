import HTTPTypes

/// The reason for a refused token in a `WWW-Authenticate` field (RFC 6750 section 3).
enum BearerChallenge {
    static func isLackOfScope(_ fields: HTTPFields) -> Bool {
        fields[values: .wwwAuthenticate].contains { error(in: $0) == "insufficient_scope" }
    }

    /// Returns the value of the first parameter `error` in a field with one or more challenges.
    ///
    /// Only names before an equals sign count, so that a realm that mentions errors is not mistaken for one.
    static func error(in field: String) -> String? {
        var text = field[...]
        while !text.isEmpty {
            let name = text.prefix(while: isToken)
            text = text[name.endIndex...]
            let rest = text.drop { $0 == " " || $0 == "\t" }
            guard !name.isEmpty, rest.first == "=" else {
                if name.isEmpty { text = text.dropFirst() }
                continue
            }
            var value = ""
            text = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            if text.first == "\"" {
                value = quoted(&text)
            } else {
                value = String(text.prefix(while: isToken))
                text = text.dropFirst(value.count)
            }
            if name.lowercased() == "error" { return value }
        }
        return nil
    }

    private static func quoted(_ text: inout Substring) -> String {
        var value = ""
        text.removeFirst()
        while let character = text.popFirst(), character != "\"" {
            if character == "\\" {
                if let escaped = text.popFirst() { value.append(escaped) }
            } else {
                value.append(character)
            }
        }
        return value
    }

    private static func isToken(_ character: Character) -> Bool {
        character.isASCII
            && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
    }
}
