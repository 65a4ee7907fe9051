extension SecretScanner {
    /// More than the longest number has, including separators.
    private static let maximumBytes = 64

    /// Returns the range of a card or telephone number that begins here and has at least one encoded byte.
    func encodedNumber(at start: Int) -> Range<Int>? {
        let first = decoded(at: start).byte
        let isPhone = first == UInt8(ascii: "+")
        guard isPhone || (UInt8(ascii: "2")...UInt8(ascii: "6")).contains(first),
            patterns.contains(isPhone ? .phoneNumbers : .paymentCards),
            isDecodedBoundary(before: start)
        else { return nil }
        var plain: [UInt8] = []
        // The position of each byte in the text, and finally of the byte after them.
        var places: [Int] = []
        var index = start
        while index < bytes.count, plain.count < Self.maximumBytes {
            var (byte, length) = decoded(at: index)
            // Forms write a space as a plus sign.
            if byte == UInt8(ascii: "+"), length == 1, index > start { byte = UInt8(ascii: " ") }
            guard byte.isASCIIDigit || " +-().".utf8.contains(byte) else { break }
            plain.append(byte)
            places.append(index)
            index += length
        }
        guard index - start > plain.count else { return nil }
        // The characters that follow decide whether the number ends here.
        plain.append(decoded(at: index).byte)
        places.append(index)
        return plain.withUnsafeBufferPointer { buffer in
            let scanner = SecretScanner(buffer, patterns: patterns)
            let found = isPhone ? scanner.phoneNumber(at: 0) : scanner.cardNumber(at: 0)
            return found.map { start..<places[$0.upperBound] }
        }
    }

    private func decoded(at index: Int) -> (byte: UInt8, length: Int) {
        guard self[index] == UInt8(ascii: "%"), let high = self[index + 1].hexDigitValue,
            let low = self[index + 2].hexDigitValue
        else { return (self[index], 1) }
        return (high << 4 | low, 3)
    }

    private func isDecodedBoundary(before index: Int) -> Bool {
        let (byte, length) = decoded(at: index - 3)
        return length == 3 ? !byte.isASCIIAlphanumeric : !self[index - 1].isASCIIAlphanumeric
    }
}
