internal import KeelCore

/// A parser of structured fields (RFC 9651): dictionaries and lists, as caching fields use them.
///
/// Inner lists and parameters are checked and ignored. A syntax error invalidates the whole field.
struct StructuredFieldParser {
    enum Value: Hashable, Sendable {
        case integer(Int64)
        case string(String)
        case token(String)
        case boolean(Bool)
        /// A decimal, byte sequence, date, display string or inner list: unused by caching fields.
        case other
    }

    private var rest: Substring.UTF8View

    private init(_ lines: [String]) {
        rest = lines.joined(separator: ",")[...].utf8
    }

    /// Returns the members of a dictionary, the last of duplicate keys; nil for an invalid field.
    static func dictionary(_ lines: [String]) -> [(key: String, value: Value)]? {
        var parser = Self(lines)
        var members: [(key: String, value: Value)] = []
        let isValid = parser.readMembers { parser in
            guard let key = parser.readKey() else { return false }
            var value: Value? = .boolean(true)
            if parser.take("=") {
                value = parser.readItemOrInnerList()
            }
            guard let value, parser.skipParameters() else { return false }
            members.removeAll { $0.key == key }
            members.append((key, value))
            return true
        }
        return isValid ? members : nil
    }

    static func list(_ lines: [String]) -> [Value]? {
        var parser = Self(lines)
        var members: [Value] = []
        let isValid = parser.readMembers { parser in
            guard let value = parser.readItemOrInnerList(), parser.skipParameters() else {
                return false
            }
            members.append(value)
            return true
        }
        return isValid ? members : nil
    }

    private mutating func readMembers(_ readMember: (inout Self) -> Bool) -> Bool {
        skip(" ")
        if rest.isEmpty { return true }
        while true {
            guard readMember(&self) else { return false }
            skip(" \t")
            if rest.isEmpty { return true }
            guard take(",") else { return false }
            skip(" \t")
            if rest.isEmpty { return false }
        }
    }

    private mutating func readKey() -> String? {
        guard let first = rest.first, Self.isLower(first) || first == UInt8(ascii: "*") else {
            return nil
        }
        return String(decoding: takeAll { Self.isKey($0) }, as: UTF8.self)
    }

    private mutating func skipParameters() -> Bool {
        while take(";") {
            skip(" ")
            guard readKey() != nil else { return false }
            if take("="), readItem() == nil { return false }
        }
        return true
    }

    private mutating func readItemOrInnerList() -> Value? {
        guard take("(") else { return readItem() }
        while true {
            skip(" ")
            if take(")") { return .other }
            guard readItem() != nil, skipParameters() else { return nil }
            guard let next = rest.first, next == UInt8(ascii: " ") || next == UInt8(ascii: ")")
            else { return nil }
        }
    }

    private mutating func readItem() -> Value? {
        guard let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: "\""): return readString().map { .string($0) }
        case UInt8(ascii: "?"):
            rest = rest.dropFirst()
            if take("1") { return .boolean(true) }
            return take("0") ? .boolean(false) : nil
        case UInt8(ascii: ":"):
            rest = rest.dropFirst()
            _ = takeAll { $0.isASCIIAlphanumeric || "+/=".utf8.contains($0) }
            return take(":") ? .other : nil
        case UInt8(ascii: "@"):
            rest = rest.dropFirst()
            guard case .integer = readNumber() else { return nil }
            return .other
        case UInt8(ascii: "%"):
            rest = rest.dropFirst()
            return readString() == nil ? nil : .other
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return readNumber()
        case _ where first == UInt8(ascii: "*") || first.isASCIILetter:
            return .token(String(decoding: takeAll { Self.isToken($0) }, as: UTF8.self))
        default: return nil
        }
    }

    private mutating func readNumber() -> Value? {
        let isNegative = take("-")
        let digits = takeAll { $0.isASCIIDigit }
        guard !digits.isEmpty else { return nil }
        if take(".") {
            let fraction = takeAll { $0.isASCIIDigit }
            return digits.count <= 12 && (1...3).contains(fraction.count) ? .other : nil
        }
        guard digits.count <= 15, let number = Int64(String(decoding: digits, as: UTF8.self)) else {
            return nil
        }
        return .integer(isNegative ? -number : number)
    }

    private mutating func readString() -> String? {
        guard take("\"") else { return nil }
        var content: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), "\\\"".utf8.contains(escaped) else {
                    return nil
                }
                content.append(escaped)
            case 0x20...0x7E: content.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func takeAll(_ isWanted: (UInt8) -> Bool) -> Substring.UTF8View {
        let taken = rest.prefix(while: isWanted)
        rest = rest.dropFirst(taken.count)
        return taken
    }

    private mutating func skip(_ characters: String) {
        rest = rest.drop { characters.utf8.contains($0) }
    }

    private static func isLower(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isKey(_ byte: UInt8) -> Bool {
        isLower(byte) || byte.isASCIIDigit || "_-.*".utf8.contains(byte)
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "!#$%&'*+-.^_`|~:/".utf8.contains(byte)
    }
}
