extension Timestamp: Codable {
    /// Reads a timestamp; from other formats than documents, RFC 3339 text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let reader = container as? ValueReader {
            self = try reader.decode(Timestamp.self)
            return
        }
        guard let time = Timestamp(rfc3339: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "expected a time like 2026-03-01T12:30:00.250000Z"
            )
        }
        self = time
    }

    /// Writes a timestamp; to other formats than documents, as RFC 3339 text in UTC with six digits
    /// of a second's fraction: `2026-03-01T12:30:00.250000Z`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let writer = container as? ValueWriter {
            try writer.encode(self)
        } else {
            try container.encode(rfc3339)
        }
    }
}

extension Timestamp {
    /// The timestamp as RFC 3339 text in UTC; years beyond four digits carry a sign.
    package var rfc3339: String {
        let second = ((seconds % 86_400) + 86_400) % 86_400
        let (year, month, day) = Self.civil(fromDays: (seconds - second) / 86_400)
        let years =
            switch year {
            case 0...9999: Self.digits(year, 4)
            case 10_000...: "+" + Self.digits(year, 6)
            default: "-" + Self.digits(-year, 6)
            }
        return "\(years)-\(Self.digits(month, 2))-\(Self.digits(day, 2))"
            + "T\(Self.digits(second / 3600, 2)):\(Self.digits(second / 60 % 60, 2))"
            + ":\(Self.digits(second % 60, 2)).\(Self.digits(fraction, 6))Z"
    }

    /// Reads RFC 3339 text; digits beyond the microsecond are dropped.
    package init?(rfc3339 text: String) {
        var rest = Substring(text)
        let sign: Int64 = rest.first == "-" ? -1 : 1
        let isLongYear = rest.first == "+" || rest.first == "-"
        if isLongYear { rest.removeFirst() }
        guard let year = rest.take(digits: isLongYear ? 6 : 4, before: "-"),
            let month = rest.take(digits: 2, before: "-"), (1...12).contains(month),
            let day = rest.take(digits: 2, before: "Tt "), (1...31).contains(day),
            let hour = rest.take(digits: 2, before: ":"), hour < 24,
            let minute = rest.take(digits: 2, before: ":"), minute < 60,
            let second = rest.take(digits: 2, before: nil), second < 61
        else { return nil }
        var fraction: Int64 = 0
        if rest.first == "." {
            rest.removeFirst()
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty else { return nil }
            rest = rest[digits.endIndex...]
            fraction =
                Int64(digits.prefix(6) + String(repeating: "0", count: 6).dropFirst(digits.count))
                ?? 0
        }
        var offset: Int64 = 0
        if rest == "Z" || rest == "z" {
            rest = ""
        } else {
            guard let direction = rest.popFirst(), direction == "+" || direction == "-",
                let hours = rest.take(digits: 2, before: ":"), hours < 24,
                let minutes = rest.take(digits: 2, before: nil), minutes < 60
            else { return nil }
            offset = (direction == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
        let days = Self.days(fromCivil: sign * year, month, day)
        guard rest.isEmpty, Self.civil(fromDays: days) == (sign * year, month, day) else {
            return nil
        }
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        let total = Int128(seconds) * 1_000_000 + Int128(fraction)
        guard let microseconds = Int64(exactly: total) else { return nil }
        self.init(microseconds: microseconds)
    }

    // The Gregorian calendar by arithmetic: years that begin in March, in eras of 400 years.

    private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func days(fromCivil year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
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
}
