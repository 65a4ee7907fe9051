/// A mapping from coding keys to field names.
public enum DocumentKeyStrategy: Sendable, Hashable {
    /// Field names equal coding keys.
    case asIs
    /// `imageURL` becomes `image_url`; leading and trailing underscores stay.
    ///
    /// The decoder converts coding keys in the same direction, so that it finds every encoded field. The `String` keys
    /// of dictionaries stay unchanged. The keys of `CodingKeyRepresentable` types are converted, as by `JSONEncoder`,
    /// and converted back when the dictionary is decoded: a key `imageURL` would become `imageUrl`, so give such a case
    /// the raw value `imageUrl`.
    case snakeCase

    func fieldName(_ key: String) -> String {
        switch self {
        case .asIs: key
        case .snakeCase: Self.snakeCase(key)
        }
    }

    /// Returns the coding key that most likely produced a field name.
    func codingKey(_ name: String) -> String {
        switch self {
        case .asIs: name
        case .snakeCase: Self.camelCase(name)
        }
    }

    private static func snakeCase(_ key: String) -> String {
        let letters = Array(key)
        var name = ""
        for (position, letter) in letters.enumerated() {
            if letter.isUppercase, position > 0, letters[position - 1] != "_" {
                let followsLower = !letters[position - 1].isUppercase
                // The last capital of a run begins the next word: `myURLProperty`.
                let endsRun = position + 1 < letters.count && letters[position + 1].isLowercase
                if followsLower || endsRun { name.append("_") }
            }
            name += letter.lowercased()
        }
        return name
    }

    private static func camelCase(_ name: String) -> String {
        let body = name.drop { $0 == "_" }
        let words = body.split(separator: "_")
        guard let first = words.first, words.count > 1 else { return name }
        let tail = body.reversed().prefix { $0 == "_" }
        let joined = words.dropFirst().reduce(String(first)) { text, word in
            text + word.prefix(1).uppercased() + word.dropFirst()
        }
        return String(repeating: "_", count: name.count - body.count) + joined + String(tail)
    }
}

/// The converted keys of one encoding or decoding.
struct ConvertedKeys {
    private var known: [String: (key: String, name: String)] = [:]

    mutating func fieldName(_ key: String, by strategy: DocumentKeyStrategy) -> String {
        // The look-up also finds a canonically equivalent key, which belongs to another field.
        if let entry = known[key], StoredName.same(entry.key, key) { return entry.name }
        let name = strategy.fieldName(key)
        known[key] = (key, name)
        return name
    }
}

/// A dictionary whose keys are field names, without conversion.
protocol StringKeyedDictionary {}

extension Dictionary: StringKeyedDictionary where Key == String {}
