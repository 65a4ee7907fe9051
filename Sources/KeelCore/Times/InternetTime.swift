/// Times as text in the form of RFC 3339.
package enum InternetTime {
    /// The text of a time, such as `2026-03-01T12:30:00.250000Z`.
    ///
    /// It is in UTC, with six digits of a second's fraction; years beyond four digits carry a sign.
    package static func text(ofMicroseconds time: Int64) -> String {
        let fraction = ((time % 1_000_000) + 1_000_000) % 1_000_000
        // Rounded down, also before 1970.
        let seconds = time / 1_000_000 - (time % 1_000_000 < 0 ? 1 : 0)
        let second = ((seconds % 86_400) + 86_400) % 86_400
        let date = CivilDate(days: (seconds - second) / 86_400)
        let years =
            switch date.year {
            case 0...9999: digits(date.year, 4)
            case 10_000...: "+" + digits(date.year, 6)
            default: "-" + digits(-date.year, 6)
            }
        return "\(years)-\(digits(date.month, 2))-\(digits(date.day, 2))"
            + "T\(digits(second / 3600, 2)):\(digits(second / 60 % 60, 2))"
            + ":\(digits(second % 60, 2)).\(digits(fraction, 6))Z"
    }

    /// The time of a text, in microseconds since 1970; digits beyond those are dropped.
    package static func microseconds(of text: String) -> Int64? {
        var rest = Substring(text)
        let sign: Int64 = rest.first == "-" ? -1 : 1
        let isLongYear = rest.first == "+" || rest.first == "-"
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

    private static func digits(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

extension Substring {
    /// Removes a number of so many digits, and one of the separators after it.
    fileprivate mutating func take(digits count: Int, before separators: String?) -> Int64? {
        let digits = prefix(count)
        guard digits.utf8.count == count, digits.allSatisfy({ ("0"..."9").contains($0) }) else {
            return nil
        }
        removeFirst(count)
        if let separators {
            guard let next = popFirst(), separators.contains(next) else { return nil }
        }
        return Int64(digits)
    }

    /// Removes a fraction of a second, if there is one, and returns it in microseconds.
    fileprivate mutating func takeFraction() -> Int64? {
        guard first == "." else { return 0 }
        removeFirst()
        let digits = prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty else { return nil }
        self = self[digits.endIndex...]
        return Int64(digits.prefix(6) + String(repeating: "0", count: 6).dropFirst(digits.count))
    }

    /// Removes the offset from UTC and returns it in seconds.
    fileprivate mutating func takeOffset() -> Int64? {
        guard let direction = popFirst() else { return nil }
        switch direction {
        case "Z", "z": return 0
        case "+", "-":
            guard let hours = take(digits: 2, before: ":"), hours < 24,
                let minutes = take(digits: 2, before: nil), minutes < 60
            else { return nil }
            return (direction == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
        default: return nil
        }
    }
}
