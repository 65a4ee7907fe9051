#if Crypto
internal import Crypto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The text of a key: a prefix, 64 hexadecimal digits, and eight more that detect typing errors.
struct CheckedKeyText {
    static let recipient = Self(prefix: "keelpub1")
    static let identity = Self(prefix: "keelsec1")

    private let prefix: String

    func text(of key: Data) -> String {
        let digits = (Array(key) + check(key)).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return prefix + digits.joined()
    }

    /// Returns the 32 bytes of the key, or nil if the text is another one.
    func bytes(of text: String) -> Data? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard lines.count == 1, let line = lines.first, line.hasPrefix(prefix) else { return nil }
        let digits = Array(line.dropFirst(prefix.count).utf8)
        guard digits.count == 72 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        let key = Data(bytes.prefix(32))
        return check(key) == Array(bytes.suffix(4)) ? key : nil
    }

    private func check(_ key: Data) -> [UInt8] {
        Array(SHA256.hash(data: Data(prefix.utf8) + key).prefix(4))
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
#endif
