package import KeelStorageAdapting

/// The members of a message; absent ones are nil or empty, and those of another type than asked for throw
/// `StorageError/Code/invalidArgument`.
extension FirestoreJSON {
    /// Returns the value of a member by its name, or by the same name in snake_case; nil if it is absent or null.
    package func member(_ name: String) -> FirestoreJSON? {
        guard case .object(let members) = self else { return nil }
        var value = members.last { $0.name == name }?.value
        // Few clients send snake_case, so the conversion is usually skipped.
        if value == nil, members.contains(where: { $0.name.utf8.contains(UInt8(ascii: "_")) }) {
            value = self[Self.snakeCase(name)]
        }
        return value == .null ? nil : value
    }

    private static func snakeCase(_ name: String) -> String {
        name.reduce(into: "") { text, character in
            if character.isUppercase { text.append("_") }
            text.append(contentsOf: character.lowercased())
        }
    }

    package func list(_ name: String) throws(StorageError) -> [FirestoreJSON] {
        guard let value = member(name) else { return [] }
        guard let elements = value.elements else { throw Self.flaw(name, value, "an array") }
        return elements
    }

    package func text(_ name: String) throws(StorageError) -> String? {
        guard let value = member(name) else { return nil }
        guard let text = value.text else { throw Self.flaw(name, value, "a string") }
        return text
    }

    package func flag(_ name: String) throws(StorageError) -> Bool? {
        guard let value = member(name) else { return nil }
        guard let flag = value.flag else { throw Self.flaw(name, value, "a boolean") }
        return flag
    }

    package func wholeNumber(_ name: String) throws(StorageError) -> Int64? {
        guard let value = member(name) else { return nil }
        guard let number = value.wholeNumber else { throw Self.flaw(name, value, "an integer") }
        return number
    }

    package func object(_ name: String) throws(StorageError) -> FirestoreJSON? {
        guard let value = member(name) else { return nil }
        guard value.members != nil else { throw Self.flaw(name, value, "an object") }
        return value
    }

    private static func flaw(
        _ name: String,
        _ value: FirestoreJSON,
        _ wanted: String
    ) -> StorageError {
        FirestoreDecoding.flaw("“\(name)” is \(value.kindName) and should be \(wanted)")
    }

    /// The integer, as a number or as text: proto3's JSON form accepts both.
    package var wholeNumber: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// Returns the form of a double: proto3's JSON form represents NaN and the infinities as strings.
    static func double(_ value: Double) -> FirestoreJSON {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return .number(value)
    }

    /// The double, as a number or as text, including NaN and the infinities.
    package var anyNumber: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .string("NaN"): .nan
        case .string("Infinity"): .infinity
        case .string("-Infinity"): -.infinity
        case .string(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
    }
}
