/// A JSON value (RFC 8259) of Firestore's REST protocol.
///
/// The members of an object are a list, because names are compared by their UTF-8 bytes, unlike the keys of a
/// `Dictionary`.
package enum FirestoreJSON: Sendable, Hashable {
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
    /// A number without fraction and exponent that fits into 64 bits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case string(String)
    case array([FirestoreJSON])
    case object([Member])

    /// Returns an object of the members that are not nil.
    package static func members(_ members: KeyValuePairs<String, FirestoreJSON?>) -> FirestoreJSON {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// The value of a member, if this is an object that has it; the last of several with the same name.
    package subscript(name: String) -> FirestoreJSON? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }
}

extension FirestoreJSON {
    package var text: String? { if case .string(let value) = self { value } else { nil } }
    package var flag: Bool? { if case .boolean(let value) = self { value } else { nil } }
    package var elements: [FirestoreJSON]? {
        if case .array(let values) = self { values } else { nil }
    }
    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

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
