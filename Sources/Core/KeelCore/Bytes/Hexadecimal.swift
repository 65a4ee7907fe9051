package enum Hexadecimal {
    /// Returns two lowercase digits per byte.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
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
