/// A JSON value (RFC 8259) of Firestore's REST protocol.
///
/// Integers are kept apart from other numbers, so that none loses digits, and the members of an
/// object are a list: their names are told apart by their UTF-8 bytes, as the names of fields are,
/// which the keys of a `Dictionary` would not be.
package enum FirestoreJSON: Sendable, Hashable {
    /// A name and its value in an object.
    package struct Member: Sendable, Hashable {
        package let name: String
        package var value: FirestoreJSON

        package init(_ name: String, _ value: FirestoreJSON) {
            self.name = name
            self.value = value
        }
    }

    case null
    case boolean(Bool)
    /// A number without fraction and exponent that 64 bits can hold.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case string(String)
    case array([FirestoreJSON])
    case object([Member])

    /// An object with those members that have a value.
    package static func members(_ members: KeyValuePairs<String, FirestoreJSON?>) -> FirestoreJSON {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// The value under a name, if this is an object that has it; of several, the last.
    package subscript(name: String) -> FirestoreJSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }
}

extension FirestoreJSON {
    /// The text, if this is one.
    package var text: String? { if case .string(let value) = self { value } else { nil } }
    /// The truth value, if this is one.
    package var flag: Bool? { if case .boolean(let value) = self { value } else { nil } }
    /// The elements, if this is an array.
    package var elements: [FirestoreJSON]? {
        if case .array(let values) = self { values } else { nil }
    }
    /// The members, if this is an object.
    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The kind of value in the words of an error message.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension FirestoreJSON: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self = .string(value) }
}

extension FirestoreJSON: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension FirestoreJSON: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: FirestoreJSON...) { self = .array(elements) }
}

extension FirestoreJSON: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, FirestoreJSON)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}
