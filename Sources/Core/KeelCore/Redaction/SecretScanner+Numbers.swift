extension SecretScanner {
    // MARK: - Payment cards

    /// Returns the range of a card number that begins here: one run of digits, or groups with one kind of separator.
    func cardNumber(at start: Int) -> Range<Int>? {
        // Major industry identifiers of banks and travel; a time in microseconds begins with 1.
        guard (UInt8(ascii: "2")...UInt8(ascii: "6")).contains(bytes[start]),
            isBoundary(before: start), !isFraction(start), !isContinued(before: start)
        else { return nil }
        // Most numbers are short and isolated, so their digits need not be collected.
        let run = end(of: start, limit: 20) { $0.isASCIIDigit }
        guard run - start >= 13 || hasGroup(after: run) else { return nil }
        var digits: [UInt8] = []
        digits.reserveCapacity(19)
        var separator: UInt8?
        var index = start
        var found: Range<Int>?
        while true {
            let groupEnd = end(of: index, limit: 20) { $0.isASCIIDigit }
            let group = groupEnd - index
            guard group > 0, digits.count + group <= 19, isBoundary(after: groupEnd) else { break }
            // Groups of one or two digits are dates, lists and times.
            if separator != nil, group < 3 { break }
            digits += bytes[index..<groupEnd]
            let next = self[groupEnd]
            let goesOn = hasGroup(after: groupEnd)
            let isCut = goesOn && next == UInt8(ascii: "-")
            if digits.count >= 13, !isCut, Self.hasCheckDigit(digits) { found = start..<groupEnd }
            guard goesOn, separator == nil || separator == next else { break }
            if separator == nil, group < 3 { break }
            separator = next
            index = groupEnd + 1
        }
        return found
    }

    private func hasGroup(after end: Int) -> Bool {
        (self[end] == UInt8(ascii: " ") || self[end] == UInt8(ascii: "-"))
            && self[end + 1].isASCIIDigit
    }

    private func isFraction(_ start: Int) -> Bool {
        self[start - 1] == UInt8(ascii: ".") && self[start - 2].isASCIIDigit
    }

    /// Returns whether the digits are a later group of a longer name, such as a UUID.
    private func isContinued(before start: Int) -> Bool {
        self[start - 1] == UInt8(ascii: "-") && self[start - 2].isASCIIAlphanumeric
            && self[start - 3].isASCIIHexDigit && self[start - 4].isASCIIHexDigit
    }

    /// Returns whether the digits satisfy Luhn's formula (ISO/IEC 7812-1 annex B).
    private static func hasCheckDigit(_ digits: [UInt8]) -> Bool {
        var sum = 0
        for (position, digit) in digits.reversed().enumerated() {
            let value = Int(digit &- 0x30)
            let weighted = position % 2 == 0 ? value : value * 2
            sum += weighted > 9 ? weighted - 9 : weighted
        }
        return sum % 10 == 0
    }

    // MARK: - Bank accounts

    /// Returns the range of an IBAN that begins here, in one run or in groups separated by spaces.
    func bankAccount(at start: Int) -> Range<Int>? {
        guard self[start].isASCIILetter, self[start + 1].isASCIILetter,
            self[start + 2].isASCIIDigit, self[start + 3].isASCIIDigit, isBoundary(before: start)
        else { return nil }
        var characters: [UInt8] = []
        var index = start
        var found: Range<Int>?
        while index < bytes.count {
            let byte = bytes[index]
            if byte.isASCIIAlphanumeric {
                guard characters.count < 34 else { return nil }
                characters.append(byte)
                if characters.count >= 15, isBoundary(after: index + 1), Self.isIBAN(characters) {
                    found = start..<(index + 1)
                }
            } else if byte != UInt8(ascii: " ") || characters.count % 4 != 0 {
                break
            }
            index += 1
        }
        return found
    }

    private static func isIBAN(_ characters: [UInt8]) -> Bool {
        var remainder = 0
        for byte in characters[4...] + characters[..<4] {
            if byte.isASCIIDigit {
                remainder = (remainder * 10 + Int(byte &- 0x30)) % 97
            } else {
                remainder = (remainder * 100 + Int(byte.asciiLowercased &- 0x61) + 10) % 97
            }
        }
        return remainder == 1
    }

    // MARK: - Telephone numbers

    /// Returns the range of a number with a plus sign: 8 to 15 digits in groups (E.164).
    func phoneNumber(at plus: Int) -> Range<Int>? {
        guard patterns.contains(.phoneNumbers), self[plus + 1].isASCIIDigit,
            !self[plus - 1].isASCIIAlphanumeric
        else { return nil }
        var index = plus + 1
        var last = index
        var count = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte.isASCIIDigit {
                count += 1
                last = index + 1
            } else if !" -().".utf8.contains(byte) || index - last >= 2 {
                break
            }
            index += 1
        }
        return (8...15).contains(count) && isBoundary(after: last) ? plus..<last : nil
    }

    // MARK: - Network addresses

    func ipv4Address(at start: Int) -> Range<Int>? {
        guard isBoundary(before: start), self[start - 1] != UInt8(ascii: "."),
            let end = ipv4End(from: start), isBoundary(after: end),
            !(self[end] == UInt8(ascii: ".") && self[end + 1].isASCIIAlphanumeric)
        else { return nil }
        return start..<end
    }

    private func ipv4End(from start: Int) -> Int? {
        var index = start
        for part in 0..<4 {
            if part > 0 {
                guard self[index] == UInt8(ascii: ".") else { return nil }
                index += 1
            }
            let partEnd = end(of: index, limit: 4) { $0.isASCIIDigit }
            guard (1...3).contains(partEnd - index) else { return nil }
            let value = bytes[index..<partEnd].reduce(0) { $0 * 10 + Int($1 &- 0x30) }
            guard value <= 255 else { return nil }
            index = partEnd
        }
        return index
    }

    /// Returns the range of an IPv6 address (RFC 4291 section 2.2) that contains this colon.
    func ipv6Address(around colon: Int) -> Range<Int>? {
        guard patterns.contains(.ipAddresses) else { return nil }
        func belongs(_ byte: UInt8) -> Bool {
            byte.isASCIIHexDigit || byte == UInt8(ascii: ":")
        }
        let start = start(of: colon, limit: 40, where: belongs)
        guard isBoundary(before: start) else { return nil }
        var groups = 0
        var isShortened = false
        var index = start
        while true {
            if self[index] == UInt8(ascii: ":"), self[index + 1] == UInt8(ascii: ":") {
                guard !isShortened else { return nil }
                isShortened = true
                index += 2
            } else if groups > 0 {
                guard self[index] == UInt8(ascii: ":"), belongs(self[index + 1]) else { break }
                index += 1
            }
            if let tail = ipv4End(from: index), groups > 0 || isShortened {
                groups += 2
                index = tail
                break
            }
            let groupEnd = end(of: index, limit: 5) { $0.isASCIIHexDigit }
            guard groupEnd > index else { break }
            guard groupEnd - index <= 4 else { return nil }
            groups += 1
            index = groupEnd
            guard groups <= 8 else { return nil }
        }
        guard isShortened ? (1...7).contains(groups) : groups == 8, isBoundary(after: index),
            index > colon,
            // "a::b" is more often C++ than an address.
            bytes[start..<index].contains(where: \.isASCIIDigit)
        else { return nil }
        if self[index] == UInt8(ascii: "%") {
            index = end(of: index + 1, limit: 16) { $0.isASCIIAlphanumeric }
        }
        return start..<index
    }
}
