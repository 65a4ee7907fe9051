#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Base64 (RFC 4648), with the standard or the URL alphabet.
package enum Base64 {
    /// Encodes with the standard alphabet and padding.
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// Encodes with the URL alphabet, without padding.
    package static func encodeForURL(_ bytes: [UInt8]) -> String {
        let digits = encode(bytes).utf8.compactMap { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: digit
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Decodes text of either alphabet, with or without padding; returns nil if it is not Base64.
    package static func decode(_ text: String) -> [UInt8]? {
        var digits = text.utf8.map { digit -> UInt8 in
            switch digit {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: digit
            }
        }
        // Foundation decodes padding alone as a byte.
        let padding = UInt8(ascii: "=")
        let count = digits.lastIndex { $0 != padding }.map { $0 + 1 } ?? 0
        guard digits.count == count || digits.count % 4 == 0 && digits.count - count < 3 else {
            return nil
        }
        while digits.count % 4 != 0 { digits.append(padding) }
        return Data(base64Encoded: Data(digits)).map(Array.init)
    }
}
