internal import KeelCore

package enum SetCookieFields {
    /// Splits `Set-Cookie` fields that URLSession has joined with commas.
    ///
    /// A field begins only after a comma that a name and an equals sign follow, as in Foundation's `HTTPCookie`,
    /// because a date contains a comma (RFC 9110 section 5.3). A value such as `1, b=2` is read as two fields, and a
    /// field with only a value stays part of the previous one.
    package static func fields(inJoined text: String) -> [String] {
        let bytes = text.utf8
        var fields: [String] = []
        var start = bytes.startIndex
        var position = start
        while let comma = bytes[position...].firstIndex(of: UInt8(ascii: ",")) {
            position = bytes.index(after: comma)
            guard beginsPair(bytes[position...]) else { continue }
            fields.append(trim(text[start..<comma]))
            start = position
        }
        fields.append(trim(text[start...]))
        return fields.filter { !$0.isEmpty }
    }

    private static func beginsPair(_ text: Substring.UTF8View) -> Bool {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let text = text.drop(while: isBlank)
        // The characters of a token (RFC 9110 section 5.6.2).
        let name = text.prefix { $0.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains($0) }
        return !name.isEmpty
            && text[name.endIndex...].drop(while: isBlank).first == UInt8(ascii: "=")
    }

    /// Returns a text without the spaces and tabs around it.
    package static func trim(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}
