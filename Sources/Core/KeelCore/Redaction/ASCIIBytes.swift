/// The ASCII character classes that the scanners need.
extension UInt8 {
    @inline(__always) var isASCIIDigit: Bool { self &- 0x30 < 10 }

    @inline(__always) var isASCIILetter: Bool { (self | 0x20) &- 0x61 < 26 }

    @inline(__always) var isASCIIUppercase: Bool { self &- 0x41 < 26 }

    @inline(__always) var isASCIIAlphanumeric: Bool { isASCIIDigit || isASCIILetter }

    @inline(__always) var isASCIIHexDigit: Bool { isASCIIDigit || (self | 0x20) &- 0x61 < 6 }

    @inline(__always) var isASCIISpace: Bool { self == 0x20 || self &- 0x09 < 5 }

    var asciiLowercased: UInt8 { isASCIIUppercase ? self | 0x20 : self }

    package var hexDigitValue: UInt8? {
        if isASCIIDigit { return self &- 0x30 }
        return isASCIIHexDigit ? (self | 0x20) &- 0x61 &+ 10 : nil
    }
}
