internal import HTTPTypes
internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The encoding of attributes as fields of a request, with the prefix `x-amz-meta-`.
///
/// A value that a field cannot represent is written as encoded words (RFC 2047), as S3 returns them; other programs see
/// the encoded words.
enum S3Attributes {
    private static let prefix = "x-amz-meta-"

    static func fields(of attributes: [String: String]) -> [(name: String, value: String)] {
        attributes.sorted { $0.key < $1.key }.map { (prefix + $0.key, encoded($0.value)) }
    }

    static func attributes(in fields: HTTPFields) -> [String: String] {
        var attributes: [String: String] = [:]
        for field in fields where field.name.canonicalName.hasPrefix(prefix) {
            let name = String(field.name.canonicalName.dropFirst(prefix.count))
            attributes[name] = decoded(field.value)
        }
        return attributes
    }

    // MARK: Encoded words

    /// The number of bytes in an encoded word of 72 characters; RFC 2047 allows 75.
    private static let wordByteCount = 45
    private static let wordStart = "=?UTF-8?B?"

    static func encoded(_ value: String) -> String {
        let isPlain =
            !value.isEmpty && value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            && value.utf8.first != 0x20 && value.utf8.last != 0x20 && !value.contains("  ")
            && !value.contains("=?")
        guard !isPlain else { return value }
        var words: [[UInt8]] = [[]]
        for scalar in value.unicodeScalars {
            // Characters are not split across words.
            if words[words.count - 1].count + UTF8.width(scalar) > wordByteCount {
                words.append([])
            }
            words[words.count - 1] += Array(String(scalar).utf8)
        }
        return words.map { wordStart + Data($0).base64EncodedString() + "?=" }
            .joined(separator: " ")
    }

    static func decoded(_ value: String) -> String {
        guard value.hasPrefix("=?") else { return value }
        var bytes: [UInt8] = []
        for word in value.split(separator: " ") {
            let parts = word.split(separator: "?", omittingEmptySubsequences: false)
            guard parts.count == 5, parts[0] == "=", parts[4] == "=",
                ["utf-8", "us-ascii"].contains(parts[1].lowercased())
            else { return value }
            switch parts[2] {
            case "B", "b":
                guard let data = Data(base64Encoded: String(parts[3])) else { return value }
                bytes += data
            case "Q", "q":
                let text = parts[3].replacing("_", with: " ").replacing("%", with: "%25")
                bytes += Array(PercentEncoding.decode(text.replacing("=", with: "%")).utf8)
            default: return value
            }
        }
        return String(validating: bytes, as: UTF8.self) ?? value
    }
}

extension UTF8 {
    fileprivate static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0..<0x80: 1
        case 0x80..<0x800: 2
        case 0x800..<0x10000: 3
        default: 4
        }
    }
}
