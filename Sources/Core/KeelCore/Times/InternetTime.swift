/// Times as RFC 3339 text, the form of ISO 8601 that web services use.
package enum InternetTime {
    /// Returns the text of a time in UTC with six fractional digits, such as `2026-03-01T12:30:00.250000Z`; years
    /// beyond four digits have a sign.
    package static func text(ofMicroseconds time: Int64) -> String {
        let fraction = ((time % 1_000_000) + 1_000_000) % 1_000_000
        // Rounded down, also before 1970.
        let seconds = time / 1_000_000 - (time % 1_000_000 < 0 ? 1 : 0)
        return text(ofSeconds: seconds, fraction: fraction, digits: 6)
    }

    package static func text(ofSeconds seconds: Int64, fraction: Int64, digits: Int) -> String {
        let (date, second) = CivilDate.split(seconds)
        var text = TimeText()
        switch date.year {
        case 0...9999: text.append(date.year, 4, "-")
        case 10_000...:
            text.append("+")
            text.append(date.year, 6, "-")
        default:
            text.append("-")
            text.append(-date.year, 6, "-")
        }
        text.append(date.month, 2, "-")
        text.append(date.day, 2, "T")
        text.append(second / 3600, 2, ":")
        text.append(second / 60 % 60, 2, ":")
        text.append(second % 60, 2, digits > 0 ? "." : "Z")
        if digits > 0 { text.append(fraction, digits, "Z") }
        return text.string
    }

    /// Returns the time of a text in microseconds since 1970, truncating further digits.
    package static func microseconds(of text: String) -> Int64? {
        guard let (seconds, fraction) = read(text, isLenient: false) else { return nil }
        return Int64(exactly: Int128(seconds) * 1_000_000 + Int128(fraction / 1_000_000_000))
    }

    /// Returns the time of a text in seconds since 1970, and its fraction in femtoseconds, truncated.
    ///
    /// A second of 60 is the first second of the next minute. Leniently, a comma may begin the fraction, and the offset
    /// may lack its colon or its minutes; years with a sign are then refused.
    package static func read(
        _ text: String,
        isLenient: Bool
    ) -> (seconds: Int64, femtoseconds: Int64)? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = Reader(bytes: bytes, isLenient: isLenient)
            return reader.time()
        }
    }
}

private struct TimeText {
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(32) }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ byte: Unicode.Scalar) { bytes.append(UInt8(ascii: byte)) }

    mutating func append(_ number: Int64, _ width: Int, _ end: Unicode.Scalar) {
        var limit: Int64 = 1
        var count = 0
        while count < width || limit <= number {
            limit *= 10
            count += 1
        }
        for _ in 0..<count {
            limit /= 10
            bytes.append(UInt8(ascii: "0") + UInt8(number / limit % 10))
        }
        append(end)
    }
}

private struct Reader {
    let bytes: UnsafeBufferPointer<UInt8>
    let isLenient: Bool
    var position = 0

    mutating func time() -> (Int64, Int64)? {
        let sign: Int64? = isLenient ? nil : take("-") ? -1 : take("+") ? 1 : nil
        guard let year = number(sign == nil ? 4 : 6), take("-"), let month = number(2), take("-"),
            let day = number(2), (1...12).contains(month), take("T") || take("t") || take(" "),
            let hour = number(2), hour < 24, take(":"), let minute = number(2), minute < 60,
            take(":"), let second = number(2), second <= 60,
            let fraction = fraction(), let offset = offset(), position == bytes.count
        else { return nil }
        let date = CivilDate((sign ?? 1) * year, month, day)
        guard date.exists else { return nil }
        return (date.days * 86_400 + hour * 3600 + minute * 60 + second - offset, fraction)
    }

    /// The fraction of a second in femtoseconds; 0 if there is none.
    private mutating func fraction() -> Int64? {
        guard take(".") || isLenient && take(",") else { return 0 }
        var fraction: Int64 = 0
        var unit: Int64 = 1_000_000_000_000_000
        guard position < bytes.count, Self.digits.contains(bytes[position]) else { return nil }
        while let digit = number(1) {
            unit /= 10
            fraction += digit * unit
        }
        return fraction
    }

    /// The offset from UTC in seconds.
    private mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        guard let sign: Int64 = take("+") ? 1 : take("-") ? -1 : nil,
            let hours = number(2), hours < 24
        else { return nil }
        let hasColon = take(":")
        if isLenient, position == bytes.count { return sign * hours * 3600 }
        guard hasColon || isLenient, let minutes = number(2), minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    private mutating func number(_ count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard position < bytes.count, Self.digits.contains(bytes[position]) else { return nil }
            value = value * 10 + Int64(bytes[position] - UInt8(ascii: "0"))
            position += 1
        }
        return value
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
            return false
        }
        position += 1
        return true
    }
}
