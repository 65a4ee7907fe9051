#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Dates as RFC 3339 text, the form of ISO 8601 that web services use.
///
/// Foundation's formats reject an unannounced fraction, and use the Julian calendar before 1582, unlike RFC 3339.
package enum InternetDate {
    /// Parses a date, or returns nil if the text is not RFC 3339.
    ///
    /// Accepts any number of fraction digits, `Z` or any offset with or without its colon, and a space or a lowercase
    /// letter between date and time. A second of 60 is the first second of the next minute.
    package static func parse(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = Reader(bytes: bytes)
            return reader.date()
        }
    }

    /// Returns the start in UTC of a day such as `2025-01-31`, or nil if the text is not a day.
    static func parseDay(_ text: String) -> Date? {
        text.utf8.count == 10 ? parse(text + "T00:00:00Z") : nil
    }

    /// Returns the day of a date in UTC, or nil for a year outside 0 to 9999.
    static func formatDay(_ date: Date) -> String? {
        format(date, hasFraction: false).map { String($0.prefix(10)) }
    }

    /// Formats a date in UTC, or returns nil for a year outside 0 to 9999.
    ///
    /// A fraction has three digits, rounded; without a fraction, the time is rounded down to the second.
    package static func format(_ date: Date, hasFraction: Bool) -> String? {
        let seconds = date.timeIntervalSince1970
        // The years 0 to 9999, which also keeps the conversion to an integer safe.
        guard seconds >= -62_167_219_200, seconds < 253_402_300_800 else { return nil }
        let total = Int64((seconds * 1000).rounded(hasFraction ? .toNearestOrEven : .down))
        let (day, milliseconds) = total.quotientAndFloor(by: 86_400_000)
        let (year, month, dayOfMonth) = civil(fromDay: day)
        guard year <= 9999 else { return nil }
        let second = milliseconds / 1000
        var text: [UInt8] = []
        text.reserveCapacity(24)
        append(year, 4, to: &text)
        text.append(UInt8(ascii: "-"))
        append(month, 2, to: &text)
        text.append(UInt8(ascii: "-"))
        append(dayOfMonth, 2, to: &text)
        text.append(UInt8(ascii: "T"))
        append(second / 3600, 2, to: &text)
        text.append(UInt8(ascii: ":"))
        append(second / 60 % 60, 2, to: &text)
        text.append(UInt8(ascii: ":"))
        append(second % 60, 2, to: &text)
        if hasFraction {
            text.append(UInt8(ascii: "."))
            append(milliseconds % 1000, 3, to: &text)
        }
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ number: Int64, _ digits: Int, to text: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            text.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    // Days and dates of the proleptic Gregorian calendar, in years that begin in March: the leap day is then the last
    // of the year, and months have a regular pattern of 153 days in five.

    fileprivate static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shifted.quotientAndFloor(by: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private static func civil(fromDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (day + 719_468).quotientAndFloor(by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    fileprivate static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension InternetDate {
    private struct Reader {
        let bytes: UnsafeBufferPointer<UInt8>
        var position = 0

        mutating func date() -> Date? {
            guard let year = number(4), take("-"), let month = number(2), take("-"),
                let day = number(2), (1...12).contains(month),
                (1...InternetDate.days(in: month, of: year)).contains(day),
                take("T") || take("t") || take(" "),
                let hour = number(2), take(":"), let minute = number(2), take(":"),
                let second = number(2), hour < 24, minute < 60, second <= 60
            else { return nil }
            var fraction = 0.0
            if take(".") || take(",") {
                guard let read = decimals() else { return nil }
                fraction = read
            }
            guard let offset = offset(), position == bytes.count else { return nil }
            let whole =
                InternetDate.day(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
                - offset
            return Date(timeIntervalSince1970: Double(whole) + fraction)
        }

        /// The offset from UTC in seconds.
        private mutating func offset() -> Int64? {
            if take("Z") || take("z") { return 0 }
            let sign: Int64
            if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
            guard let hours = number(2), hours < 24 else { return nil }
            _ = take(":")
            guard position < bytes.count else { return sign * hours * 3600 }
            guard let minutes = number(2), minutes < 60 else { return nil }
            return sign * (hours * 3600 + minutes * 60)
        }

        private mutating func decimals() -> Double? {
            var value = 0.0
            var scale = 1.0
            var count = 0
            while let digit = digit() {
                // A double holds no more fraction digits than these after a number of seconds.
                if count < 15 {
                    value = value * 10 + Double(digit)
                    scale *= 10
                }
                count += 1
            }
            return count == 0 ? nil : value / scale
        }

        private mutating func number(_ digits: Int) -> Int64? {
            var value: Int64 = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        private mutating func digit() -> Int64? {
            guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else {
                return nil
            }
            defer { position += 1 }
            return Int64(bytes[position] - 0x30)
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: character) else {
                return false
            }
            position += 1
            return true
        }
    }
}

extension Int64 {
    /// Returns the quotient rounded down and the nonnegative remainder.
    fileprivate func quotientAndFloor(by divisor: Int64) -> (quotient: Int64, rest: Int64) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }
}
