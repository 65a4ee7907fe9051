extension FirestoreJSON {
    /// The value as compact JSON text in UTF-8.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        append(to: &bytes)
        return bytes
    }

    /// Appends the value as JSON text.
    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += "\(value)".utf8
        // Swift's description of a finite double is valid JSON, and the shortest text that gives the same double.
        // Others have no form in JSON; the protocol encodes them as strings.
        case .number(let value): bytes += "\(value)".utf8
        case .string(let value): Self.append(value, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (position, value) in values.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (position, member) in members.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a string with the escapes required by RFC 8259 section 7.
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { append(utf8: $0, to: &bytes) }
    }

    /// Appends valid UTF-8 text as a string, with escapes where required.
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
            bytes.append(hexDigits[Int(byte >> 4)])
            bytes.append(hexDigits[Int(byte & 15)])
        default:
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)
}
