internal import KeelCore

/// A pull parser of XML documents, as far as S3's replies use XML.
///
/// Attributes are dropped. Document types are refused, so entities cannot be declared or expand.
struct XMLReader {
    enum Event: Hashable {
        case start(String)
        case text(String)
        case end(String)
    }

    private let bytes: [UInt8]
    private var position = 0
    /// The pending end of an element without content.
    private var pendingEnd: String?

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // Skip a byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func next() throws(XMLFlaw) -> Event? {
        if let name = pendingEnd {
            pendingEnd = nil
            return .end(name)
        }
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else { return .text(try text()) }
            if skips("<?") {
                try skip(behind: "?>")
            } else if skips("<!--") {
                try skip(behind: "-->")
            } else if skips("<![CDATA[") {
                let start = position
                try skip(behind: "]]>")
                return .text(try string(start..<position - 3))
            } else if skips("</") {
                let name = try self.name()
                skipSpace()
                guard skips(">") else { throw XMLFlaw("an end tag is not closed") }
                return .end(name)
            } else if starts(with: "<!") {
                throw XMLFlaw("it has a document type declaration")
            } else {
                position += 1
                return .start(try startTag())
            }
        }
        return nil
    }

    // MARK: Tags

    private mutating func startTag() throws(XMLFlaw) -> String {
        let name = try self.name()
        while true {
            skipSpace()
            if skips(">") { return name }
            if skips("/>") {
                pendingEnd = name
                return name
            }
            _ = try self.name()
            skipSpace()
            guard skips("=") else { throw XMLFlaw("an attribute has no value") }
            skipSpace()
            if skips("\"") {
                try skip(behind: "\"")
            } else if skips("'") {
                try skip(behind: "'")
            } else {
                throw XMLFlaw("the value of an attribute is not quoted")
            }
        }
    }

    /// Reads a name and drops its prefix.
    private mutating func name() throws(XMLFlaw) -> String {
        let start = position
        while position < bytes.count, isNameByte(bytes[position]) { position += 1 }
        guard position > start else { throw XMLFlaw("a name is missing") }
        let name = try string(start..<position)
        return name.split(separator: ":").last.map(String.init) ?? name
    }

    private func isNameByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte >= 0x80 || "-_.:".utf8.contains(byte)
    }

    // MARK: Text

    private mutating func text() throws(XMLFlaw) -> String {
        var text = ""
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            let start = position
            while position < bytes.count, bytes[position] != UInt8(ascii: "<"),
                bytes[position] != UInt8(ascii: "&")
            {
                position += 1
            }
            text += try string(start..<position)
            if skips("&") { text.unicodeScalars.append(try entity()) }
        }
        return text
    }

    private mutating func entity() throws(XMLFlaw) -> Unicode.Scalar {
        let start = position
        // The longest entity is `#x10FFFF`.
        while position < bytes.count, position - start <= 8, bytes[position] != UInt8(ascii: ";") {
            position += 1
        }
        let name = try string(start..<position)
        guard skips(";") else { throw XMLFlaw("an entity is not terminated") }
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard name.hasPrefix("#"), let number = UInt32(digits, radix: isHexadecimal ? 16 : 10),
            let scalar = Unicode.Scalar(number)
        else { throw XMLFlaw("it has an unknown entity") }
        return scalar
    }

    private func string(_ range: Range<Int>) throws(XMLFlaw) -> String {
        guard let text = String(validating: bytes[range], as: UTF8.self) else {
            throw XMLFlaw("it is not UTF-8")
        }
        return text
    }

    // MARK: Bytes

    private func starts(with text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private mutating func skips(_ text: StaticString) -> Bool {
        guard starts(with: text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    private mutating func skip(behind end: StaticString) throws(XMLFlaw) {
        while position < bytes.count {
            if skips(end) { return }
            position += 1
        }
        throw XMLFlaw("it is truncated")
    }

    private mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            position += 1
        }
    }
}
