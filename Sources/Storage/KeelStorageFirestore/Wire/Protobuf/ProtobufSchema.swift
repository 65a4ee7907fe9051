/// The messages of Firestore's protocol: the numbers, names and types of their fields.
struct ProtobufSchema: Sendable {
    /// The type of a field, by its form in JSON.
    indirect enum Kind: Sendable, Equatable {
        case boolean, bytes, double, int32, int64, string
        /// A text: an RFC 3339 time, or a number of seconds with the suffix `s`.
        case timestamp, duration
        /// `NullValue`: the value null.
        case null
        /// `Struct`: an object of any content.
        case anyObject
        /// `Any`: an object with the type's name in `@type`.
        case anyMessage
        /// A message with a single field of number 1, whose JSON form is that of its value.
        case wrapper(Kind)
        /// A map from strings, whose JSON form is an object.
        case map(Kind)
        /// An enumeration, by its index in ``ProtobufSchema/enumerations``.
        case enumeration(Int)
        /// A message, by its index in ``ProtobufSchema/messages``.
        case message(Int)
    }

    struct Field: Sendable {
        let number: Int
        let name: String
        let kind: Kind
        let isRepeated: Bool
        /// The group of which at most one field has a value.
        let choice: Substring?
    }

    struct Message: Sendable {
        let name: String
        let fields: [Field]
        private let positions: [Int: Int]
        private let positionsByName: [String: Int]

        init(_ name: String, _ fields: [Field]) {
            self.name = name
            self.fields = fields
            let pairs = fields.indices.map { (fields[$0].number, $0) }
            positions = Dictionary(pairs) { first, _ in first }
            let named = fields.indices.map { (fields[$0].name, $0) }
            positionsByName = Dictionary(named) { first, _ in first }
        }

        func field(_ number: Int) -> Field? { positions[number].map { fields[$0] } }

        func field(named name: String) -> Field? { positionsByName[name].map { fields[$0] } }
    }

    struct Enumeration: Sendable {
        let names: [Int32: String]
        let numbers: [String: Int32]
    }

    private(set) var messages: [Message] = []
    private(set) var enumerations: [Enumeration] = []
    private var indices: [Substring: Kind] = [:]

    static let firestore = ProtobufSchema(firestoreMessages)

    /// Returns the message of a name, without `google.firestore.v1.`; nil if there is none.
    func message(named name: some StringProtocol) -> Message? {
        guard case .message(let index)? = indices[Substring(name)] else { return nil }
        return messages[index]
    }
}

extension ProtobufSchema {
    /// Reads a schema: one message or enumeration a line.
    ///
    /// A message is `Name: 1 name type, 2 names repeated type, 3 name map type`, where `in choice` follows the type of a
    /// field of a `oneof`. An enumeration is `enum Name: 0 NAME, 1 NAME`.
    init(_ text: String) {
        let lines = text.split(separator: "\n").map {
            line -> (name: Substring, parts: [[Substring]]) in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            let parts = line[colon...].dropFirst().split(separator: ",")
            return (line[..<colon], parts.map { $0.split(separator: " ") })
        }
        var count = 0
        for (name, parts) in lines {
            if name.hasPrefix("enum ") {
                indices[name.dropFirst(5)] = .enumeration(enumerations.count)
                let pairs = parts.map { (Int32($0[0]) ?? 0, String($0[1])) }
                enumerations.append(
                    Enumeration(
                        names: Dictionary(pairs) { first, _ in first },
                        numbers: Dictionary(pairs.map { ($1, $0) }) { first, _ in first }
                    )
                )
            } else {
                indices[name] = .message(count)
                count += 1
            }
        }
        for (name, parts) in lines where !name.hasPrefix("enum ") {
            messages.append(Message(String(name), parts.map(field)))
        }
    }

    private func field(_ words: [Substring]) -> Field {
        var rest = words.dropFirst(2)
        let isRepeated = rest.first == "repeated"
        if isRepeated { rest.removeFirst() }
        let isMap = rest.first == "map"
        if isMap { rest.removeFirst() }
        guard let number = Int(words[0]), let type = rest.popFirst(), let kind = kind(type) else {
            preconditionFailure("The schema has a malformed field: \(words)")
        }
        return Field(
            number: number,
            name: String(words[1]),
            kind: isMap ? .map(kind) : kind,
            isRepeated: isRepeated,
            choice: rest.dropFirst().first
        )
    }

    private func kind(_ type: Substring) -> Kind? {
        switch type {
        case "bool": .boolean
        case "bytes": .bytes
        case "double": .double
        case "int32": .int32
        case "int64": .int64
        case "string": .string
        case "Timestamp": .timestamp
        case "Duration": .duration
        case "NullValue": .null
        case "Struct": .anyObject
        case "Any": .anyMessage
        case "DoubleValue": .wrapper(.double)
        case "Int32Value": .wrapper(.int32)
        case "Int64Value": .wrapper(.int64)
        default: indices[type]
        }
    }
}
