internal import KeelFiles

/// The profiles of `~/.aws/config` and `~/.aws/credentials`.
struct AWSProfiles: Sendable {
    typealias Values = [String: String]

    private(set) var profiles: [String: Values] = [:]
    private(set) var sessions: [String: Values] = [:]

    /// Reads both files; values of the credentials file take precedence.
    init(config: String, credentials: String) throws(FileStoreError) {
        for (title, values) in try Self.sections(of: config, named: "config") {
            let words = title.split(separator: " ", maxSplits: 1).map(String.init)
            switch words.count {
            case 1 where words[0] == "default": profiles["default"] = values
            case 2 where words[0] == "profile":
                profiles[Self.unquoted(words[1]), default: [:]].merge(values) { $1 }
            case 2 where words[0] == "sso-session":
                sessions[Self.unquoted(words[1]), default: [:]].merge(values) { $1 }
            default: continue
            }
        }
        for (title, values) in try Self.sections(of: credentials, named: "credentials") {
            profiles[Self.unquoted(title), default: [:]].merge(values) { $1 }
        }
    }

    private static func unquoted(_ text: String) -> String {
        let text = trimmed(Substring(text))
        guard text.count >= 2, let first = text.first, first == "\"" || first == "'",
            text.last == first
        else { return text }
        return String(text.dropFirst().dropLast())
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }

    private static func sections(
        of text: String,
        named name: String
    ) throws(FileStoreError) -> [(title: String, values: Values)] {
        var sections: [(title: String, values: Values)] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in lines.enumerated() {
            let content = trimmed(line)
            guard let first = content.first, first != "#", first != ";" else { continue }
            if first == "[" {
                guard let end = content.firstIndex(of: "]") else { throw flaw(name, number) }
                sections.append((trimmed(content[..<end].dropFirst()), [:]))
                continue
            }
            // Indented lines belong to the value above, such as settings of one service.
            if line.first?.isWhitespace == true { continue }
            guard let sign = content.firstIndex(of: "="), !sections.isEmpty else {
                throw flaw(name, number)
            }
            let key = trimmed(content[..<sign]).lowercased()
            let value = trimmed(content[sign...].dropFirst())
            sections[sections.count - 1].values[key] = value.isEmpty ? nil : value
        }
        return sections
    }

    private static func flaw(_ name: String, _ number: Int) -> FileStoreError {
        FileStoreError(
            .invalidArgument,
            "Line \(number + 1) of AWS's \(name) file is neither a section nor a setting."
        )
    }
}
