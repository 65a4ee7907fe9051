internal import KeelCore

/// A parser of lists, split at commas outside quoted strings (RFC 9110 sections 5.6.1, 5.6.4).
enum FieldList {
    static func members(_ lines: [String]) -> [String] {
        lines.flatMap(members)
    }

    /// Returns the trimmed, nonempty members of one line.
    ///
    /// An unclosed quoted string extends to the end of the line, so that no member is read from it.
    static func members(_ line: String) -> [String] {
        split(line, at: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty }
    }

    static func split(_ text: String, at separator: UInt8) -> [String] {
        var parts: [String] = []
        var start = text.startIndex
        var isQuoted = false
        var isEscaped = false
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == separator, !isQuoted {
                parts.append(String(text[start..<index]))
                start = text.utf8.index(after: index)
            }
        }
        parts.append(String(text[start...]))
        return parts
    }

    static func trimmed(_ text: String) -> String {
        let bytes = text.utf8.drop { isSpace($0) }
        let end = bytes.lastIndex { !isSpace($0) }
        guard let end else { return "" }
        return String(Substring(bytes[...end]))
    }

    /// Returns whether a text is a token (RFC 9110 section 5.6.2).
    static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { tokenBytes[Int($0)] }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static let tokenBytes: [Bool] = (0...255).map { code in
        let byte = UInt8(code)
        return byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
