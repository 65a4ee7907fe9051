package import KeelStorage
internal import KeelStorageFirestore

/// The syntax of values on the command line.
///
/// ```text
/// value   = json | kind ":" text | list | word
/// json    = a JSON literal: 12, 1.5, true, null, "text", [1, "a"], {"a": 1}
/// kind    = "timestamp" | "reference" | "bytes" | "geopoint" | "vector" | "integer" | "double"
///         | "string"
/// list    = "[" value { "," value } "]"
/// word    = any other text, which is a string
/// ```
///
/// `timestamp:2026-01-01T00:00:00Z` uses RFC 3339, `reference:users/ada` a document's path, `bytes:aGk=` Base64,
/// `geopoint:40.8,-73.9` latitude and longitude in degrees, `vector:[0.5, 1]` a JSON array of numbers, and `string:12`
/// is the text “12”.
package enum ValueText {
    /// Parses a value.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` with a description of the error.
    package static func value(_ text: String) throws(StorageError) -> DocumentValue {
        let text = trimmed(text[...])
        guard let first = text.first else {
            throw flaw("a value is missing; an empty text is written \"\"")
        }
        if let json = try? DocumentJSON.value(plain: Array(text.utf8)) { return json }
        switch first {
        case "[": return .array(try list(text))
        case "{", "\"": throw flaw("“\(text)” begins like JSON and is none")
        default: break
        }
        guard let colon = text.firstIndex(of: ":"),
            let kind = Kind(rawValue: String(text[..<colon]))
        else { return .string(String(text)) }
        return try kind.value(String(text[text.index(after: colon)...]))
    }

    private enum Kind: String {
        case timestamp, reference, bytes, geopoint, vector, integer, double, string

        func value(_ text: String) throws(StorageError) -> DocumentValue {
            let member: String
            switch self {
            case .timestamp: member = "timestampValue"
            case .bytes: member = "bytesValue"
            case .integer: member = "integerValue"
            case .double: member = "doubleValue"
            case .string: return .string(text)
            case .reference: return .reference(DocumentPath(text))
            case .geopoint: return try geopoint(text)
            case .vector: return try vector(text)
            }
            // The parser of typed JSON accepts these forms.
            let literal = DocumentJSON.plain(.string(text))
            let json = Array("{\"\(member)\":".utf8) + literal + Array("}".utf8)
            do throws(StorageError) {
                return try DocumentJSON.value(typed: json)
            } catch {
                throw ValueText.flaw("“\(text)” is not a valid \(rawValue)")
            }
        }

        private func geopoint(_ text: String) throws(StorageError) -> DocumentValue {
            let parts = text.split(separator: ",").map { Double(ValueText.trimmed($0)) }
            guard parts.count == 2, let latitude = parts[0], let longitude = parts[1],
                (-90...90).contains(latitude), (-180...180).contains(longitude)
            else {
                throw ValueText.flaw("“\(text)” is not a geopoint: LATITUDE,LONGITUDE in degrees")
            }
            return .geopoint(GeoPoint(latitude: latitude, longitude: longitude))
        }

        private func vector(_ text: String) throws(StorageError) -> DocumentValue {
            guard let json = try? DocumentJSON.value(plain: Array(text.utf8)),
                let values = json.arrayValue,
                case let elements = values.compactMap(\.doubleValue), elements.count == values.count
            else { throw ValueText.flaw("“\(text)” is not a vector: [NUMBER, …]") }
            return .vector(VectorValue(elements))
        }
    }

    /// Parses a list that is not JSON.
    private static func list(_ text: Substring) throws(StorageError) -> [DocumentValue] {
        guard text.last == "]" else { throw flaw("“\(text)” has no closing bracket") }
        var values: [DocumentValue] = []
        for element in elements(of: text.dropFirst().dropLast()) {
            values.append(try value(String(element)))
        }
        return values
    }

    /// Splits a text at the commas outside strings and brackets.
    private static func elements(of text: Substring) -> [Substring] {
        var pieces: [Substring] = []
        var start = text.startIndex
        var depth = 0
        var isQuoted = false
        var isEscaped = false
        for index in text.indices {
            switch text[index] {
            case _ where isEscaped: isEscaped = false
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            case _ where isQuoted: continue
            case "[", "{": depth += 1
            case "]", "}": depth -= 1
            case "," where depth == 0:
                pieces.append(text[start..<index])
                start = text.index(after: index)
            default: continue
            }
        }
        pieces.append(text[start...])
        return pieces
    }

    static func trimmed(_ text: Substring) -> Substring {
        guard let first = text.firstIndex(where: { !$0.isWhitespace }),
            let last = text.lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return text[first...last]
    }

    static func flaw(_ message: String) -> StorageError {
        StorageError(.invalidArgument, message)
    }
}
