extension FirestoreJSONParser {
    private mutating func digits() -> Int {
        let start = position
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            position += 1
        }
        return position - start
    }

    mutating func number() throws(FirestoreJSONError) -> FirestoreJSON {
        let start = position
        let isNegative = take("-")
        let first = next
        let count = digits()
        guard count > 0 else { throw fault(.unexpectedByte) }
        // RFC 8259 section 6: no leading zeros.
        guard count == 1 || first != UInt8(ascii: "0") else { throw fault(.badNumber) }
        var isWhole = true
        if take(".") {
            isWhole = false
            guard digits() > 0 else { throw fault(.unexpectedByte) }
        }
        if take("e") || take("E") {
            isWhole = false
            if !take("+") { _ = take("-") }
            guard digits() > 0 else { throw fault(.unexpectedByte) }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        // An integer has no negative zero.
        if isWhole, let value = Int64(text), !(isNegative && value == 0) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw fault(.badNumber) }
        return .number(value)
    }

    // MARK: Strings

    mutating func string() throws(FirestoreJSONError) -> String {
        position += 1
        let start = position
        var allBits: UInt8 = 0
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20
        {
            allBits |= byte
            position += 1
        }
        guard next == UInt8(ascii: "\"") else { return try string(continuedFrom: start) }
        let content = UnsafeBufferPointer(rebasing: bytes[start..<position])
        position += 1
        // ASCII is always valid, and the general check has a high fixed cost.
        guard allBits >= 0x80 else { return String(decoding: content, as: UTF8.self) }
        return try Self.text(of: content, at: start)
    }

    private mutating func string(continuedFrom start: Int) throws(FirestoreJSONError) -> String {
        var content = Array(bytes[start..<position])
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw fault(.unexpectedByte) }
            position += 1
            if byte == UInt8(ascii: "\\") {
                content.append(contentsOf: String(try escape()).utf8)
            } else {
                content.append(byte)
            }
        }
        guard take("\"") else { throw fault(.unexpectedByte) }
        return try Self.text(of: content, at: start)
    }

    private static func text(
        of bytes: some Collection<UInt8>,
        at offset: Int
    ) throws(FirestoreJSONError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw FirestoreJSONError(reason: .badUTF8, offset: offset)
        }
        return text
    }

    private mutating func escape() throws(FirestoreJSONError) -> Unicode.Scalar {
        guard let byte = next else { throw fault(.unexpectedEnd) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw fault(.badEscape)
        }
    }

    /// Parses the digits of `\u`, and a second escape if the first is a high surrogate.
    private mutating func unicodeEscape() throws(FirestoreJSONError) -> Unicode.Scalar {
        let high = try codeUnit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, take("\\"), take("u") else { throw fault(.badEscape) }
        let low = try codeUnit()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw fault(.badEscape) }
        return scalar
    }

    private mutating func codeUnit() throws(FirestoreJSONError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next else { throw fault(.unexpectedEnd) }
            let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            guard byte < 0x80, let digit else { throw fault(.badEscape) }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
