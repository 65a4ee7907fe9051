/// A strict reader of JSON (RFC 8259), which refuses an object that repeats a name.
///
/// Foundation's decoder takes a minute for a vendor's largest request, and accepts such objects.
struct VendorJSONReader {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Returns the single value of the text; nil if the text is not JSON.
    mutating func text() -> VendorJSON? {
        guard let value = value() else { return nil }
        skipBlanks()
        return position == bytes.count ? value : nil
    }

    private mutating func value() -> VendorJSON? {
        skipBlanks()
        guard position < bytes.count, depth < 512 else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "\""): return string().map { .text($0) }
        case UInt8(ascii: "t"): return word("true") ? .boolean(true) : nil
        case UInt8(ascii: "f"): return word("false") ? .boolean(false) : nil
        case UInt8(ascii: "n"): return word("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object() -> VendorJSON? {
        depth += 1
        defer { depth -= 1 }
        position += 1
        var members: [String: VendorJSON] = [:]
        skipBlanks()
        if take("}") { return .object(members) }
        repeat {
            skipBlanks()
            guard let name = string() else { return nil }
            skipBlanks()
            guard take(":"), let value = value(), members.updateValue(value, forKey: name) == nil
            else { return nil }
            skipBlanks()
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func array() -> VendorJSON? {
        depth += 1
        defer { depth -= 1 }
        position += 1
        var elements: [VendorJSON] = []
        skipBlanks()
        if take("]") { return .array(elements) }
        repeat {
            guard let value = value() else { return nil }
            elements.append(value)
            skipBlanks()
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    // MARK: Strings

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        text.reserveCapacity(32)
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += String(scalar).utf8
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard position < bytes.count else { return nil }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let unit = hexadecimal() else { return nil }
            guard (0xD800..<0xDC00).contains(unit) else { return Unicode.Scalar(unit) }
            guard take("\\"), take("u"), let low = hexadecimal(), (0xDC00..<0xE000).contains(low)
            else { return nil }
            return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        default: return nil
        }
    }

    private mutating func hexadecimal() -> UInt32? {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4 else { return nil }
        position += 4
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    // MARK: Numbers and words

    private mutating func number() -> VendorJSON? {
        let start = position
        _ = take("-")
        let isZero = take("0")
        guard isZero || digits() else { return nil }
        var isWhole = true
        if take(".") {
            isWhole = false
            guard digits() else { return nil }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            guard digits() else { return nil }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let number = Int64(text) { return .integer(number) }
        return Double(text).map { .number($0) }
    }

    private mutating func digits() -> Bool {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        return position > start
    }

    private mutating func word(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        let found = word.withUTF8Buffer { bytes[position...].starts(with: $0) }
        if found { position += length }
        return found
    }

    private mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
            return false
        }
        position += 1
        return true
    }
}
