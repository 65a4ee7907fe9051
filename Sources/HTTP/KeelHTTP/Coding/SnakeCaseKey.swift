struct SnakeCaseKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ stringValue: String, intValue: Int? = nil) {
        self.stringValue = stringValue
        self.intValue = intValue
    }

    init(stringValue: String) {
        self.init(stringValue)
    }

    init(intValue: Int) {
        self.init(String(intValue), intValue: intValue)
    }

    init(asWritten key: some CodingKey) {
        self.init(key.stringValue, intValue: key.intValue)
    }

    init(converting key: some CodingKey) {
        self.init(Self.snakeCase(key.stringValue), intValue: key.intValue)
    }
}

extension SnakeCaseKey {
    /// Returns a name with its words in lowercase, separated by underscores.
    ///
    /// A word begins at a capital letter that follows a lowercase letter or a digit, and at the last of several capital
    /// letters if a lowercase letter follows: `imageURLPath` has three words.
    static func snakeCase(_ name: String) -> String {
        var isASCII = true
        var hasCapital = false
        for byte in name.utf8 {
            if byte >= 0x80 { isASCII = false }
            if isCapital(byte) { hasCapital = true }
        }
        guard isASCII else { return snakeCase(Array(name.unicodeScalars)) }
        return hasCapital ? snakeCase(ascii: name) : name
    }

    private static func snakeCase(ascii name: String) -> String {
        var name = name
        return name.withUTF8 { bytes in
            String(unsafeUninitializedCapacity: bytes.count * 2) { text in
                var length = 0
                for (index, byte) in bytes.enumerated() {
                    guard isCapital(byte) else {
                        text[length] = byte
                        length += 1
                        continue
                    }
                    if index > 0, bytes[index - 1] != UInt8(ascii: "_") {
                        let precedesSmall =
                            index + 1 < bytes.count
                            && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[index + 1])
                        if !isCapital(bytes[index - 1]) || precedesSmall {
                            text[length] = UInt8(ascii: "_")
                            length += 1
                        }
                    }
                    text[length] = byte | 0x20
                    length += 1
                }
                return length
            }
        }
    }

    private static func isCapital(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func snakeCase(_ scalars: [Unicode.Scalar]) -> String {
        var text = ""
        for (index, scalar) in scalars.enumerated() {
            guard scalar.properties.isUppercase else {
                text.unicodeScalars.append(scalar)
                continue
            }
            if index > 0, scalars[index - 1] != "_" {
                let followsCapital = scalars[index - 1].properties.isUppercase
                let precedesSmall =
                    index + 1 < scalars.count && scalars[index + 1].properties.isLowercase
                if !followsCapital || precedesSmall { text.append("_") }
            }
            text.append(scalar.properties.lowercaseMapping)
        }
        return text
    }

    /// Returns the property names whose snake case may be `name`, the likely ones first.
    ///
    /// Only the second to the fifth word are tried as acronyms.
    static func properties(writtenAs name: String) -> [String] {
        let underscores = name.prefix { $0 == "_" }
        let words = name.dropFirst(underscores.count).split(separator: "_").map(String.init)
        guard let first = words.first, words.count > 1 else { return [name] }
        let rest = words.dropFirst().map { word in
            (word.prefix(1).uppercased() + word.dropFirst(), word.uppercased())
        }
        return [name]
            + (0..<(1 << min(rest.count, 4))).map { acronyms in
                underscores + first
                    + rest.enumerated().map { index, word in
                        index < 4 && acronyms & (1 << index) != 0 ? word.1 : word.0
                    }
                    .joined()
            }
    }
}
