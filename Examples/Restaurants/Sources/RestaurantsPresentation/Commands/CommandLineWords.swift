/// The words of a command line that have not been parsed yet.
struct CommandLineWords: Sendable {
    private var words: [String]

    init(_ words: [String]) { self.words = words }

    /// Removes a flag if it is present, and returns whether it was.
    mutating func takeFlag(_ name: String) -> Bool {
        guard let index = words.firstIndex(of: name) else { return false }
        words.remove(at: index)
        return true
    }

    /// Removes an option and its value, written as `--name value` or `--name=value`.
    mutating func takeOption(_ name: String) throws(UsageError) -> String? {
        if let index = words.firstIndex(where: { $0.hasPrefix("\(name)=") }) {
            return String(words.remove(at: index).dropFirst(name.count + 1))
        }
        guard let index = words.firstIndex(of: name) else { return nil }
        words.remove(at: index)
        guard index < words.endIndex, !words[index].hasPrefix("--") else {
            throw UsageError("\(name) needs a value after it.")
        }
        return words.remove(at: index)
    }

    /// Removes an option whose value is a positive integer.
    mutating func takeNumber(_ name: String) throws(UsageError) -> Int? {
        guard let text = try takeOption(name) else { return nil }
        guard let number = Int(text), number > 0 else {
            throw UsageError(
                "“\(text)” is not a number for \(name).",
                suggestion: "Write for example \(name) 10."
            )
        }
        return number
    }

    /// Removes the next word that is not an option.
    mutating func takeWord() -> String? {
        words.firstIndex { !$0.hasPrefix("--") }.map { words.remove(at: $0) }
    }

    mutating func takeArgument(_ name: String, of command: String) throws(UsageError) -> String {
        guard let word = takeWord() else {
            throw UsageError("\(command) needs \(name).", suggestion: "See restaurants --help.")
        }
        return word
    }

    /// Removes all remaining words, at least one.
    mutating func takeAll(_ name: String, of command: String) throws(UsageError) -> [String] {
        var taken = [try takeArgument(name, of: command)]
        while let word = takeWord() { taken.append(word) }
        return taken
    }

    mutating func takeRest(_ name: String, of command: String) throws(UsageError) -> String {
        try takeAll(name, of: command).joined(separator: " ")
    }

    /// Throws if any words are left.
    func finish(after command: String) throws(UsageError) {
        guard let word = words.first else { return }
        let kind = word.hasPrefix("--") ? "option" : "word"
        throw UsageError("\(command) does not take the \(kind) “\(word)”.")
    }
}
