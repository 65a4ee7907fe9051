#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A parsed `Set-Cookie` field (RFC 6265bis section 5.6).
struct SetCookie: Sendable, Hashable {
    var name: String
    var value: String
    /// The domain in lowercase, without a leading dot; nil if there is none.
    var domain: String?
    /// The path; nil means the default path.
    var path: String?
    var expires: Date?
    /// The lifetime in seconds; it takes precedence over ``expires``.
    var maxAge: Int?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: Cookie.SameSite?

    /// Parses a field; nil if it must be ignored.
    init?(_ field: String) {
        guard !field.unicodeScalars.contains(where: Self.isForbidden) else { return nil }
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first else { return nil }
        if let equals = pair.firstIndex(of: "=") {
            name = Self.trim(pair[..<equals])
            value = Self.trim(pair[pair.index(after: equals)...])
        } else {
            name = ""
            value = Self.trim(pair)
        }
        guard !(name.isEmpty && value.isEmpty), name.utf8.count + value.utf8.count <= 4096 else {
            return nil
        }
        for part in parts.dropFirst() { read(attribute: part) }
    }

    private mutating func read(attribute: Substring) {
        let equals = attribute.firstIndex(of: "=")
        let name = Self.trim(attribute[..<(equals ?? attribute.endIndex)]).lowercased()
        let value = equals.map { Self.trim(attribute[attribute.index(after: $0)...]) } ?? ""
        guard value.utf8.count <= 1024 else { return }
        switch name {
        case "expires":
            if let date = CookieDate.read(value) { expires = date }
        case "max-age":
            if let age = Self.maxAge(value) { maxAge = age }
        case "domain":
            let place = value.hasPrefix(".") ? value.dropFirst() : value[...]
            domain = place.isEmpty ? nil : place.lowercased()
        case "path":
            path = value.hasPrefix("/") ? value : nil
        case "secure":
            isSecure = true
        case "httponly":
            isHTTPOnly = true
        case "samesite":
            sameSite = Cookie.SameSite(rawValue: value.lowercased())
        default:
            break
        }
    }

    private static func maxAge(_ text: String) -> Int? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        // A number that overflows saturates.
        return Int(text) ?? (text.hasPrefix("-") ? .min : .max)
    }

    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        (scalar.value < 0x20 && scalar.value != 0x09) || scalar.value == 0x7F
    }

    private static func trim(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}

extension SetCookie {
    /// Splits `Set-Cookie` fields that a platform has joined with commas.
    ///
    /// URLSession joins fields of the same name. Unlike other fields, a `Set-Cookie` field may contain commas, above
    /// all in dates (RFC 9110 section 5.3), so a field begins only after a comma that a name and an equals sign follow.
    /// Foundation's `HTTPCookie` uses the same rule. It cannot tell a value such as `1, b=2` from two fields, and a
    /// field with only a value stays part of the previous one.
    static func fields(inJoined text: String) -> [String] {
        let bytes = text.utf8
        var fields: [String] = []
        var start = bytes.startIndex
        var position = start
        while let comma = bytes[position...].firstIndex(of: UInt8(ascii: ",")) {
            position = bytes.index(after: comma)
            guard beginsPair(bytes[position...]) else { continue }
            fields.append(trim(text[start..<comma]))
            start = position
        }
        fields.append(trim(text[start...]))
        return fields.filter { !$0.isEmpty }
    }

    /// Whether the text begins with a name and an equals sign.
    private static func beginsPair(_ text: Substring.UTF8View) -> Bool {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let text = text.drop(while: isBlank)
        let name = text.prefix { byte in
            // The characters of a token (RFC 9110 section 5.6.2).
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
        return !name.isEmpty
            && text[name.endIndex...].drop(while: isBlank).first == UInt8(ascii: "=")
    }
}
