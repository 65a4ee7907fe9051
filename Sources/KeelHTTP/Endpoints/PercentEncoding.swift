/// Percent-encoding of single values (RFC 3986 section 2).
enum PercentEncoding {
    /// Returns `text` with every byte encoded that is not unreserved (RFC 3986 section 2.3).
    ///
    /// The result means exactly this text in any place: in a path segment, or in the name or the value of a query item.
    static func encode(_ text: some StringProtocol) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return String(text) }
        var encoded = ""
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                append(byte, to: &encoded)
            }
        }
        return encoded
    }

    /// Encodes the characters of a path literal that cannot occur in a path.
    ///
    /// Slashes, percent triplets and the delimiters that RFC 3986 section 3.3 allows in a segment are kept. Returns nil
    /// if the text contains a question mark or a number sign, which would end the path, or a percent sign that begins
    /// no triplet.
    static func encodePath(_ text: some StringProtocol) -> String? {
        if text.utf8.allSatisfy(isOfPath) { return String(text) }
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

    /// Returns a text with every byte encoded that is neither unreserved nor reserved (RFC 3986 section 2.2); percent
    /// triplets are kept.
    static func encodeReserved(_ text: some Collection<UInt8>) -> String {
        var encoded = ""
        let bytes = Array(text)
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

    /// Whether the bytes begin with a percent sign and two hexadecimal digits.
    static func isTriplet(_ bytes: ArraySlice<UInt8>) -> Bool {
        let triplet = bytes.prefix(3)
        return triplet.count == 3 && triplet.first == UInt8(ascii: "%")
            && triplet.dropFirst().allSatisfy(isHexadecimalDigit)
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
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    private static func isHexadecimalDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default:
            false
        }
    }
}
