package enum InternetTime {
    /// Returns the text of a time, such as `2026-03-01T12:30:00.250000Z`.
    ///
    /// The text is in UTC, with a fraction of six digits; years beyond four digits have a sign.
    package static func text(ofMicroseconds time: Int64) -> String {
        let fraction = ((time % 1_000_000) + 1_000_000) % 1_000_000
        // Rounded down, also before 1970.
        let seconds = time / 1_000_000 - (time % 1_000_000 < 0 ? 1 : 0)
        let second = ((seconds % 86_400) + 86_400) % 86_400
        let date = CivilDate(days: (seconds - second) / 86_400)
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
        text.append(second % 60, 2, ".")
        text.append(fraction, 6, "Z")
        return text.string
    }

    /// Returns the time of a text in microseconds since 1970, truncating further digits.
    package static func microseconds(of text: String) -> Int64? {
        var rest = text.utf8[...]
        let sign: Int64 = rest.first == UInt8(ascii: "-") ? -1 : 1
        let isLongYear = sign < 0 || rest.first == UInt8(ascii: "+")
        if isLongYear { rest.removeFirst() }
        guard let year = rest.take(digits: isLongYear ? 6 : 4, before: "-"),
            let month = rest.take(digits: 2, before: "-"), (1...12).contains(month),
            let day = rest.take(digits: 2, before: "Tt "), (1...31).contains(day),
            let hour = rest.take(digits: 2, before: ":"), hour < 24,
            let minute = rest.take(digits: 2, before: ":"), minute < 60,
            let second = rest.take(digits: 2, before: nil), second < 61,
            let fraction = rest.takeFraction(), let offset = rest.takeOffset(), rest.isEmpty
        else { return nil }
        let date = CivilDate(sign * year, month, day)
        guard CivilDate(days: date.days) == date else { return nil }
        let seconds = date.days * 86_400 + hour * 3600 + minute * 60 + second - offset
        return Int64(exactly: Int128(seconds) * 1_000_000 + Int128(fraction))
    }
}

private struct TimeText {
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(32) }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    mutating func append(_ byte: Unicode.Scalar) { bytes.append(UInt8(ascii: byte)) }

    /// Appends a number with a minimum number of digits, and the byte that follows it.
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

extension Substring.UTF8View {
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    private mutating func takeDigit() -> Int64? {
        guard let byte = first, Self.digits.contains(byte) else { return nil }
        removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }

    /// Removes a number with a fixed number of digits, and a separator after it.
    fileprivate mutating func take(digits count: Int, before separators: String?) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let digit = takeDigit() else { return nil }
            number = number * 10 + digit
        }
        if let separators {
            guard let next = popFirst(), separators.utf8.contains(next) else { return nil }
        }
        return number
    }

    /// Removes a fraction of a second, if there is one, and returns it in microseconds.
    fileprivate mutating func takeFraction() -> Int64? {
        guard first == UInt8(ascii: ".") else { return 0 }
        removeFirst()
        var fraction: Int64 = 0
        var count = 0
        while let digit = takeDigit() {
            if count < 6 { fraction = fraction * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        while count < 6 {
            fraction *= 10
            count += 1
        }
        return fraction
    }

    /// Removes the offset from UTC and returns it in seconds.
    fileprivate mutating func takeOffset() -> Int64? {
        guard let direction = popFirst() else { return nil }
        switch direction {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): return 0
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard let hours = take(digits: 2, before: ":"), hours < 24,
                let minutes = take(digits: 2, before: nil), minutes < 60
            else { return nil }
            return (direction == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
        default: return nil
        }
    }
}
