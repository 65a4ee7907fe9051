import KeelCore
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
    var path: String?
    var expires: Date?
    /// The lifetime in seconds; it takes precedence over ``expires``.
    var maxAge: Int?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite: Cookie.SameSite?

    init?(_ field: String) {
        guard !field.unicodeScalars.contains(where: Self.isForbidden) else { return nil }
        // By bytes: a semicolon and a combining mark are one character.
        let parts = field.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard let pair = parts.first else { return nil }
        if let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) {
            name = SetCookieFields.trim(pair[..<equals])
            value = SetCookieFields.trim(pair[pair.utf8.index(after: equals)...])
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
        let equals = attribute.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = SetCookieFields.trim(attribute[..<(equals ?? attribute.endIndex)]).lowercased()
        let value =
            equals.map { SetCookieFields.trim(attribute[attribute.utf8.index(after: $0)...]) } ?? ""
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

/// A parser of cookie dates, which come in many odd forms (RFC 6265bis section 5.1.1).
enum CookieDate {
    static func read(_ text: String) -> Date? {
        var time: (Int, Int, Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.utf8.split(whereSeparator: isDelimiter) {
            if time == nil, let found = readTime(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = readMonth(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1900 }
        if (0...69).contains(year) { year += 2000 }
        let date = CivilDate(Int64(year), Int64(month), Int64(day))
        guard date.exists, year >= 1601, time.0 <= 23, time.1 <= 59, time.2 <= 59
        else { return nil }
        let seconds = Int(date.days) * 86_400 + time.0 * 3600 + time.1 * 60 + time.2
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// Parses a number with the given count of digits, followed by no further digit.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let found = token.prefix { (0x30...0x39).contains($0) }
        guard digits.contains(found.count) else { return nil }
        return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func readTime(_ token: Substring.UTF8View) -> (Int, Int, Int)? {
        let parts = token.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count >= 3, isNumber(parts[0]), isNumber(parts[1]),
            let hour = number(parts[0], digits: 1...2),
            let minute = number(parts[1], digits: 1...2),
            let second = number(parts[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func isNumber(_ token: Substring.UTF8View) -> Bool {
        token.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func readMonth(_ token: Substring.UTF8View) -> Int? {
        guard token.count >= 3 else { return nil }
        let start = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return months.firstIndex(of: start).map { $0 + 1 }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
}
