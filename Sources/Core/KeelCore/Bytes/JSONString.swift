package enum JSONString {
    /// Appends a string with the escapes of RFC 8259 section 7.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { append(utf8: $0, to: &bytes) }
    }

    package static func append(utf8 text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        for (position, byte) in text.enumerated()
        where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            bytes.append(contentsOf: text[start..<position])
            appendEscape(of: byte, to: &bytes)
            start = position + 1
        }
        bytes.append(contentsOf: text[start...])
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\n"): bytes += #"\n"#.utf8
        case UInt8(ascii: "\r"): bytes += #"\r"#.utf8
        case UInt8(ascii: "\t"): bytes += #"\t"#.utf8
        case 0..<0x20:
            bytes += #"\u00"#.utf8
            bytes.append(Hexadecimal.digits[Int(byte >> 4)])
            bytes.append(Hexadecimal.digits[Int(byte & 15)])
        default:
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        }
    }
}
