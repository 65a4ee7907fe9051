/// A scanner that finds secrets in one pass over a text, with a bounded look around at each place.
///
/// It stops at the starts of words and at the few signs that mark secrets. The ranges that it finds ascend and do not
/// overlap. The bytes belong to the caller, and must remain valid during the scan.
struct SecretScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    let patterns: RedactionPatterns
    private var secrets: [Range<Int>] = []

    /// The maximum number of bytes of a name that are considered.
    private static let nameLimit = 96

    init(_ bytes: UnsafeBufferPointer<UInt8>, patterns: RedactionPatterns) {
        self.bytes = bytes
        self.patterns = patterns
    }

    mutating func scan(_ names: SensitiveNames, findsOne: Bool = false) -> [Range<Int>] {
        var index = 0
        while index < bytes.count, !findsOne || secrets.isEmpty {
            let byte = bytes[index]
            if byte.isASCIIAlphanumeric {
                index = word(at: index)
            } else {
                index = sign(byte, at: index, names)
            }
        }
        return secrets
    }

    @inline(__always)
    subscript(index: Int) -> UInt8 {
        UInt(bitPattern: index) < UInt(bitPattern: bytes.count) ? bytes[index] : 0
    }

    /// Examines the letters and digits that begin here, and returns where to continue.
    private mutating func word(at start: Int) -> Int {
        var found: Range<Int>?
        if bytes[start].isASCIIDigit {
            if patterns.contains(.ipAddresses) { found = ipv4Address(at: start) }
            if found == nil, patterns.contains(.paymentCards) {
                found = cardNumber(at: start) ?? encodedNumber(at: start)
            }
        } else {
            if patterns.contains(.credentials) { found = credential(at: start) }
            if found == nil, patterns.contains(.bankAccounts) { found = bankAccount(at: start) }
        }
        return found.map { note($0) } ?? end(of: start) { $0.isASCIIAlphanumeric }
    }

    private mutating func sign(_ byte: UInt8, at index: Int, _ names: SensitiveNames) -> Int {
        var found: Range<Int>?
        switch byte {
        case UInt8(ascii: "@"):
            // User information is followed by a host, which is not part of an address.
            if secrets.last?.upperBound != index {
                found = emailAddress(around: index, signLength: 1)
            }
        case UInt8(ascii: "%"):
            guard self[index + 1].isASCIIHexDigit, self[index + 2].isASCIIHexDigit else { break }
            if self[index + 1] == UInt8(ascii: "4"), self[index + 2] == UInt8(ascii: "0") {
                found = emailAddress(around: index, signLength: 3)
            }
            if self[index + 1] == UInt8(ascii: "3"),
                "DdAa".utf8.contains(self[index + 2])
            {
                found = value(after: index, isEncoded: true, names)
            }
            found = found ?? encodedNumber(at: index)
            // The digits of a triplet are not a word.
            if found == nil { return index + 3 }
        case UInt8(ascii: ":"), UInt8(ascii: "="):
            if byte == UInt8(ascii: ":") {
                found = userInformation(after: index) ?? ipv6Address(around: index)
            }
            found = found ?? value(after: index, names)
        case UInt8(ascii: "+"):
            found = phoneNumber(at: index) ?? encodedNumber(at: index)
        case UInt8(ascii: "-"):
            found = privateKey(at: index)
        default: break
        }
        return found.map { note($0) } ?? index + 1
    }

    /// Records a secret, merged with overlapping ones, and returns where to continue.
    private mutating func note(_ range: Range<Int>) -> Int {
        var range = range
        while let last = secrets.last, last.upperBound > range.lowerBound {
            range = min(last.lowerBound, range.lowerBound)..<max(last.upperBound, range.upperBound)
            secrets.removeLast()
        }
        secrets.append(range)
        return range.upperBound
    }

    // MARK: - Runs and boundaries

    @inline(__always)
    func end(of start: Int, limit: Int = .max, where belongs: (UInt8) -> Bool) -> Int {
        var index = start
        let last = limit < bytes.count - start ? start + limit : bytes.count
        while index < last, belongs(bytes[index]) { index += 1 }
        return index
    }

    @inline(__always)
    func start(of end: Int, limit: Int = .max, where belongs: (UInt8) -> Bool) -> Int {
        var index = end
        let first = limit < end ? end - limit : 0
        while index > first, belongs(bytes[index - 1]) { index -= 1 }
        return index
    }

    /// Returns whether a run of letters and digits can begin here.
    @inline(__always)
    func isBoundary(before index: Int) -> Bool {
        guard index > 0, bytes[index - 1].isASCIIAlphanumeric else { return true }
        return self[index - 3] == UInt8(ascii: "%") && self[index - 2].isASCIIHexDigit
            && bytes[index - 1].isASCIIHexDigit
    }

    @inline(__always)
    func isBoundary(after index: Int) -> Bool { !self[index].isASCIIAlphanumeric }

    // MARK: - Values after a name

    /// Returns the range of the value after a separator that follows a sensitive name.
    private func value(
        after separator: Int,
        isEncoded: Bool = false,
        _ names: SensitiveNames
    ) -> Range<Int>? {
        var end = start(of: separator, limit: 2) { $0 == UInt8(ascii: " ") }
        if end > 0, Self.isQuote(bytes[end - 1]) { end -= 1 }
        end = start(of: end, where: Self.isBackslash)
        var start = start(of: end, limit: Self.nameLimit, where: Self.isNamePart)
        if isEncoded, let other = (start..<end).last(where: isEncodedAmpersand) {
            start = other + 3
        }
        guard start < end, names.contains(utf8: bytes[start..<end]) else { return nil }
        let length = isEncoded ? 3 : 1
        var first = self.end(of: separator + length) { $0 == UInt8(ascii: " ") || $0 == 0x09 }
        if separator + 1 < bytes.count, bytes[separator] == UInt8(ascii: ":"),
            bytes[separator + 1] == UInt8(ascii: "=")
        {
            first = self.end(of: separator + 2) { $0 == UInt8(ascii: " ") }
        }
        guard first < bytes.count else { return nil }
        let mark = self.end(of: first, where: Self.isBackslash)
        if Self.isQuote(self[mark]) {
            let close = closing(self[mark], after: mark - first, from: mark + 1)
            return mark + 1 < close ? (mark + 1)..<close : nil
        }
        let isLine =
            bytes[first] == UInt8(ascii: "{") || bytes[first] == UInt8(ascii: "[")
            || Self.lineNames.contains(SensitiveNames.plain(bytes[start..<end]))
        var close = isLine ? lineEnd(from: first) : plainEnd(from: first)
        if isEncoded { close = (first..<close).first(where: isEncodedAmpersand) ?? close }
        return first < close ? first..<close : nil
    }

    private func isEncodedAmpersand(_ index: Int) -> Bool {
        self[index] == UInt8(ascii: "%") && self[index + 1] == UInt8(ascii: "2")
            && self[index + 2] == UInt8(ascii: "6")
    }

    private func lineEnd(from start: Int) -> Int {
        end(of: start) { $0 != 0x0A && $0 != 0x0D }
    }

    /// Returns the end of an unquoted value, including the word after the name of a scheme.
    private func plainEnd(from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte.isASCIISpace || byte == UInt8(ascii: "&") || Self.isQuote(byte) { break }
            if Self.closers.contains(byte), index + 1 >= bytes.count || self[index + 1].isASCIISpace
            {
                break
            }
            index += 1
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: " "),
            Self.schemes.contains(bytes[start..<index].map(\.asciiLowercased))
        else { return index }
        return end(of: index + 1) { !$0.isASCIISpace && !Self.isQuote($0) }
    }

    /// Returns the index of the quote that closes a value, or the end of the text; `depth` is the number of backslashes
    /// before the opening quote, more than 0 in escaped text.
    private func closing(_ quote: UInt8, after depth: Int, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            if depth > 0 {
                // A quote after more backslashes than before the first one belongs to the value.
                if bytes[index] == UInt8(ascii: "\\") {
                    let run = end(of: index, where: Self.isBackslash)
                    if run - index <= depth, self[run] == quote { return index }
                    index = run + 1
                    continue
                }
                if bytes[index] == quote { return index }
            } else {
                if bytes[index] == UInt8(ascii: "\\") {
                    index += 2
                    continue
                }
                if bytes[index] == quote { return index }
            }
            index += 1
        }
        return bytes.count
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte >= 0x80 || "_-.[]%".utf8.contains(byte)
    }

    private static func isBackslash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\\") }

    private static func isQuote(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`")
    }

    private static let closers = Set(",;)}]".utf8)

    private static let schemes: Set<[UInt8]> = [
        Array("bearer".utf8), Array("basic".utf8), Array("token".utf8), Array("apikey".utf8),
        Array("negotiate".utf8), Array("key".utf8),
    ]

    private static let lineNames: Set<[UInt8]> = [
        Array("authorization".utf8), Array("proxyauthorization".utf8), Array("cookie".utf8),
        Array("setcookie".utf8),
    ]
}
