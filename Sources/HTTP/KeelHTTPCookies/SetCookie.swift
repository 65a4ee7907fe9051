import KeelHTTP

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
            name = SetCookieFields.trim(pair[..<equals])
            value = SetCookieFields.trim(pair[pair.index(after: equals)...])
        } else {
            name = ""
            value = SetCookieFields.trim(pair)
        }
        guard !(name.isEmpty && value.isEmpty), name.utf8.count + value.utf8.count <= 4096 else {
            return nil
        }
        for part in parts.dropFirst() { read(attribute: part) }
    }

    private mutating func read(attribute: Substring) {
        let equals = attribute.firstIndex(of: "=")
        let name = SetCookieFields.trim(attribute[..<(equals ?? attribute.endIndex)]).lowercased()
        let value =
            equals.map { SetCookieFields.trim(attribute[attribute.index(after: $0)...]) } ?? ""
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
}
