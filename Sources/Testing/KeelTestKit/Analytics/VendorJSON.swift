internal import KeelCore

enum VendorJSON: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case array([VendorJSON])
    case object([String: VendorJSON])

    /// Parses a text; nil if it is not JSON or an object repeats a name.
    init?(_ bytes: [UInt8]) {
        var reader = VendorJSONReader(bytes)
        guard let value = reader.text() else { return nil }
        self = value
    }

    // MARK: Reading

    /// The member of an object; nil if it is missing or null.
    subscript(name: String) -> VendorJSON? {
        guard case .object(let members) = self, let member = members[name], member != .null else {
            return nil
        }
        return member
    }

    var members: [String: VendorJSON]? {
        if case .object(let members) = self { members } else { nil }
    }

    var elements: [VendorJSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The number, if this is one, integers included.
    var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        default: 0
        }
    }

    // MARK: Writing

    /// The JSON text without whitespace, with members sorted by name.
    var compact: String {
        var text = ""
        write(to: &text)
        return text
    }

    var size: Int { compact.utf8.count }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .boolean(let flag): text += flag ? "true" : "false"
        case .integer(let number): text += "\(number)"
        case .number(let number): text += "\(number)"
        case .text(let content): Self.quote(content, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, name) in members.keys.sorted().enumerated() {
                if index > 0 { text += "," }
                Self.quote(name, to: &text)
                text += ":"
                members[name]?.write(to: &text)
            }
            text += "}"
        }
    }

    private static func quote(_ content: String, to text: inout String) {
        text += "\""
        if content.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
            text += content
        } else {
            for scalar in content.unicodeScalars { text += escaped(scalar) }
        }
        text += "\""
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\"", "\\": return "\\" + String(scalar)
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        case _ where scalar.value < 0x20:
            return "\\u" + scalar.value.digits(4, radix: 16)
        default: return String(scalar)
        }
    }
}
