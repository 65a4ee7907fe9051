/// A JSON value of Firestore's REST protocol.
///
/// Proto3's JSON form writes 64-bit integers as strings, so that the numbers here are doubles and
/// small counts.
package enum FirestoreJSON: Hashable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([FirestoreJSON])
    case object([String: FirestoreJSON])

    /// The value under a name, if this is an object that has it.
    package subscript(name: String) -> FirestoreJSON? {
        if case .object(let members) = self { members[name] } else { nil }
    }
}

extension FirestoreJSON: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([FirestoreJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: FirestoreJSON].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
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
        self = .object(Dictionary(elements) { _, last in last })
    }
}
