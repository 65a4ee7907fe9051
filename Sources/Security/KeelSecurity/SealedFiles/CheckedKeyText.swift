#if Crypto
internal import Crypto
internal import KeelCore

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
        prefix + Hexadecimal.text(of: Array(key) + check(key))
    }

    /// Returns the 32 bytes of the key, or nil if the text is another one.
    func bytes(of text: String) -> Data? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
        guard lines.count == 1, let line = lines.first, line.hasPrefix(prefix) else { return nil }
        guard let bytes = Hexadecimal.bytes(of: line.dropFirst(prefix.count)), bytes.count == 36
        else { return nil }
        let key = Data(bytes.prefix(32))
        return check(key) == Array(bytes.suffix(4)) ? key : nil
    }

    private func check(_ key: Data) -> [UInt8] {
        Array(SHA256.hash(data: Data(prefix.utf8) + key).prefix(4))
    }
}
#endif
