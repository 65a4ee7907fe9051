import KeelCore

/// A point in time in HTTP's format, in whole seconds (RFC 9110 section 5.6.7).
package struct HTTPDate: Sendable, Hashable {
    /// Seconds since 1 January 1970, UTC.
    package let seconds: Int64

    /// Parses one of the three forms: IMF-fixdate, RFC 850, asctime.
    ///
    /// ```text
    /// Sun, 06 Nov 1994 08:49:37 GMT
    /// Sunday, 06-Nov-94 08:49:37 GMT
    /// Sun Nov  6 08:49:37 1994
    /// ```
    ///
    /// A two-digit year is at most 50 years after `reference`, in seconds since 1970; without a reference, 70 to 99
    /// belong to the 20th century. The weekday is not checked against the date.
    package init?(_ text: String, reference: Int64? = nil) {
        guard let seconds = Self.fixdate(text) ?? Self.anyForm(text, reference) else { return nil }
        self.seconds = seconds
    }

    /// Parses only the form that ``text(_:)`` writes.
    package init?(fixdate text: String) {
        guard let seconds = Self.fixdate(text) else { return nil }
        self.seconds = seconds
    }

    private static func fixdate(_ text: String) -> Int64? {
        // One pass over the bytes: a client reads the date of each response, and a cache of each hit.
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count == pattern.count, zip(bytes, pattern).allSatisfy(matches),
                weekdays.contains(where: { $0.utf8.elementsEqual(bytes[0..<3]) }),
                let month = months.firstIndex(where: { $0.utf8.elementsEqual(bytes[8..<11]) })
            else { return nil }
            func number(_ digits: Range<Int>) -> Int64 {
                bytes[digits].reduce(0) { $0 * 10 + Int64($1 & 0xF) }
            }
            let date = CivilDate(number(12..<16), Int64(month) + 1, number(5..<7))
            guard date.year > 0 else { return nil }
            return seconds(date, number(17..<19), number(20..<22), number(23..<25))
        }
    }

    private static let pattern = Array("aaa, 00 aaa 0000 00:00:00 GMT".utf8)

    private static func matches(_ byte: UInt8, _ expected: UInt8) -> Bool {
        switch expected {
        case UInt8(ascii: "0"): (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        // A letter of a name, which is looked up.
        case UInt8(ascii: "a"): true
        default: byte == expected
        }
    }

    /// Returns the seconds since 1970, or nil for a date or time that does not exist; a leap second is second 59.
    private static func seconds(
        _ date: CivilDate,
        _ hour: Int64,
        _ minute: Int64,
        _ second: Int64
    ) -> Int64? {
        guard date.exists, hour < 24, minute < 60, second <= 60 else { return nil }
        return date.days * 86400 + hour * 3600 + minute * 60 + min(second, 59)
    }

    static func anyForm(_ text: String, _ reference: Int64?) -> Int64? {
        let words = text.split { $0 == " " || $0 == "," }.map(String.init)
        let parts: (day: String, month: String, year: String, time: String)
        switch words.count {
        case 6 where words[5] == "GMT" || words[5] == "UTC":
            parts = (words[1], words[2], words[3], words[4])
        case 4 where words[3] == "GMT" || words[3] == "UTC":
            let date = words[1].split(separator: "-").map(String.init)
            guard date.count == 3 else { return nil }
            parts = (date[0], date[1], date[2], words[2])
        case 5:
            parts = (words[2], words[1], words[4], words[3])
        default:
            return nil
        }
        guard let month = Self.months.firstIndex(of: parts.month),
            let day = Self.number(parts.day, 1...31, digits: 1...2),
            let year = Self.year(parts.year, reference)
        else { return nil }
        let clock = parts.time.split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3,
            let hour = Self.number(String(clock[0]), 0...23, digits: 2...2),
            let minute = Self.number(String(clock[1]), 0...59, digits: 2...2),
            let second = Self.number(String(clock[2]), 0...60, digits: 2...2)
        else { return nil }
        return seconds(CivilDate(year, Int64(month) + 1, day), hour, minute, second)
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(
        _ text: String,
        _ range: ClosedRange<Int64>,
        digits: ClosedRange<Int>
    ) -> Int64? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
            let number = Int64(text), range.contains(number)
        else { return nil }
        return number
    }

    private static func year(_ text: String, _ reference: Int64?) -> Int64? {
        if let year = number(text, 1...9999, digits: 4...4) { return year }
        guard let short = number(text, 0...99, digits: 2...2) else { return nil }
        guard let reference else { return short >= 70 ? 1900 + short : 2000 + short }
        let current = 1970 + reference / 31_556_952
        let year = current - current % 100 + short
        return year > current + 50 ? year - 100 : year
    }

    /// Returns the preferred form, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func text(_ seconds: Int64) -> String {
        let (date, second) = CivilDate.split(seconds)
        // January 1, 1970, was a Thursday.
        let weekday = weekdays[Int((date.days % 7 + 7) % 7)]
        let clock = [second / 3600, second / 60 % 60, second % 60].map { $0.digits(2) }
        return "\(weekday), \(date.day.digits(2)) \(months[Int(date.month) - 1]) "
            + "\(date.year.digits(4)) \(clock.joined(separator: ":")) GMT"
    }

    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
}
