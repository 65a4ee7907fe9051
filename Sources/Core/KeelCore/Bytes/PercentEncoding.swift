/// Percent-encoding of single values (RFC 3986 section 2).
package enum PercentEncoding {
    /// Returns `text` with every byte encoded that is not unreserved (RFC 3986 section 2.3), for a path segment or the
    /// name or value of a query item; with `keepsSlashes`, slashes are kept as well.
    package static func encode(_ text: String, keepsSlashes: Bool = false) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var encoded = ""
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) || keepsSlashes && byte == UInt8(ascii: "/") {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                append(byte, to: &encoded)
            }
        }
        return encoded
    }

    /// Encodes the characters of a path literal that cannot occur in a path (RFC 3986 section 3.3).
    ///
    /// Returns nil if the text contains `?` or `#`, which would end the path, or a percent sign that begins no triplet.
    package static func encodePath(_ text: String) -> String? {
        if text.utf8.allSatisfy(isOfPath) { return text }
        var encoded = ""
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "#"):
                return nil
            case UInt8(ascii: "%"):
                guard isTriplet(bytes[index...]) else { return nil }
                encoded.append("%")
            case _ where isOfPath(byte):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                append(byte, to: &encoded)
            }
        }
        return encoded
    }

    /// Encodes every byte that is neither unreserved nor reserved (RFC 3986 section 2.2) nor part of a percent triplet.
    package static func encodeReserved(_ bytes: [UInt8]) -> String {
        var encoded = ""
        for (index, byte) in bytes.enumerated() {
            let isKept =
                byte == UInt8(ascii: "%")
                ? isTriplet(bytes[index...])
                : isUnreserved(byte) || ":/?#[]@!$&'()*+,;=".utf8.contains(byte)
            if isKept {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                append(byte, to: &encoded)
            }
        }
        return encoded
    }

    /// Decodes percent triplets, leaving invalid ones unchanged.
    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
        String(decoding: decode(Array(text.utf8), plusIsSpace: plusIsSpace), as: UTF8.self)
    }

    package static func decode(_ bytes: [UInt8], plusIsSpace: Bool) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].hexDigitValue, let low = bytes[index + 2].hexDigitValue
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                let isSpace = plusIsSpace && bytes[index] == UInt8(ascii: "+")
                decoded.append(isSpace ? 0x20 : bytes[index])
                index += 1
            }
        }
        return decoded
    }

    package static func isTriplet(_ bytes: ArraySlice<UInt8>) -> Bool {
        let triplet = bytes.prefix(3)
        return triplet.count == 3 && triplet.first == UInt8(ascii: "%")
            && triplet.dropFirst().allSatisfy(\.isASCIIHexDigit)
    }

    private static func append(_ byte: UInt8, to text: inout String) {
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        text.append("%")
        text.unicodeScalars.append(digits[Int(byte >> 4)])
        text.unicodeScalars.append(digits[Int(byte & 15)])
    }

    /// Whether a byte may occur in a path unencoded (RFC 3986 section 3.3).
    private static func isOfPath(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"),
            UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
            UInt8(ascii: ":"), UInt8(ascii: "@"):
            true
        default:
            isUnreserved(byte)
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: byte.isASCIIAlphanumeric
        }
    }
}
