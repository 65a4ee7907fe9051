package enum Hexadecimal {
    static let digits = Array("0123456789abcdef".utf8)

    /// Returns two lowercase digits per byte.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of digits in either case, or nil for anything else.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var half: UInt8?
        for digit in text.utf8 {
            guard let value = digit.hexDigitValue else { return nil }
            if let high = half.take() { bytes.append(high << 4 | value) } else { half = value }
        }
        return half == nil ? bytes : nil
    }
}

extension BinaryInteger {
    /// Returns the digits of the number, lowercase, with zeros before them up to a count.
    package func digits(_ count: Int, radix: Int = 10) -> String {
        let digits = String(self, radix: radix)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

extension UInt8 {
    @inlinable @inline(__always) package var isASCIIDigit: Bool { self &- 0x30 < 10 }

    @inlinable @inline(__always) package var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }

    @inline(__always) var isASCIIUppercase: Bool { self &- 0x41 < 26 }

    @inlinable @inline(__always) package var isASCIIAlphanumeric: Bool {
        isASCIIDigit || isASCIILetter
    }

    @inline(__always) var isASCIIHexDigit: Bool { isASCIIDigit || (self | 0x20) &- 0x61 < 6 }

    @inline(__always) var isASCIISpace: Bool { self == 0x20 || self &- 0x09 < 5 }

    var asciiLowercased: UInt8 { isASCIIUppercase ? self | 0x20 : self }

    package var hexDigitValue: UInt8? {
        if isASCIIDigit { return self &- 0x30 }
        return isASCIIHexDigit ? (self | 0x20) &- 0x61 &+ 10 : nil
    }
}
