package enum NameWords {
    /// Returns the words of a name, in lowercase: `url`, `cache` of `URLCache`.
    ///
    /// All non-letters separate words.
    package static func of(_ name: some StringProtocol) -> [String] {
        var words: [String] = []
        var word = ""
        let characters = Array(name)
        for (position, character) in characters.enumerated() {
            guard character.isLetter else {
                words.append(word)
                word = ""
                continue
            }
            let previous = position > 0 ? characters[position - 1] : " "
            let isLast = position + 1 == characters.count
            // The last of several capitals starts the next word: `URLCache`.
            let beginsWord =
                character.isUppercase
                && (previous.isLowercase
                    || previous.isUppercase && !isLast && characters[position + 1].isLowercase)
            if beginsWord {
                words.append(word)
                word = ""
            }
            word += character.lowercased()
        }
        words.append(word)
        return words.filter { !$0.isEmpty }
    }
}
