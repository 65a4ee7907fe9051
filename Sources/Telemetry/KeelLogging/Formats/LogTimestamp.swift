#if Logging

internal import KeelCore

/// A point in time as a date and a time of day in the Gregorian calendar.
struct LogTimestamp {
    let year: Int64
    let month: Int64
    let day: Int64
    let second: Int64
    let microsecond: Int64

    /// Splits a time, in microseconds since 1970, UTC; local time is `offset` seconds ahead of it.
    init(_ time: Int64, offset: Int64 = 0) {
        var seconds = time / 1_000_000
        var rest = time % 1_000_000
        if rest < 0 {
            rest += 1_000_000
            seconds -= 1
        }
        seconds += offset
        var days = seconds / 86_400
        var second = seconds % 86_400
        if second < 0 {
            second += 86_400
            days -= 1
        }
        self.second = second
        microsecond = rest
        let date = CivilDate(days: days)
        (year, month, day) = (date.year, date.month, date.day)
    }
}

extension LineBuffer {
    /// Appends a time in UTC (RFC 3339): `2026-11-22T09:45:13.123456Z`.
    mutating func append(utc time: Int64) {
        // Rounds down, for times before 1970 as well.
        let second = time >= 0 ? time / 1_000_000 : (time + 1) / 1_000_000 - 1
        appendSecond(second) { line in
            let stamp = LogTimestamp(time)
            line.appendDate(stamp)
            line.append(UInt8(ascii: "T"))
            line.appendTime(stamp)
        }
        append(UInt8(ascii: "."))
        append(sixDigits: Int(time - second * 1_000_000))
        append(UInt8(ascii: "Z"))
    }

    /// Appends a local time: `2026-11-22 10:45:13.123`.
    mutating func append(local time: Int64, offset: Int64) {
        let stamp = LogTimestamp(time, offset: offset)
        appendDate(stamp)
        append(UInt8(ascii: " "))
        appendTime(stamp)
        append(UInt8(ascii: "."))
        append(stamp.microsecond / 1000, digits: 3)
    }

    private mutating func appendDate(_ stamp: LogTimestamp) {
        append(stamp.year, digits: 4)
        append(UInt8(ascii: "-"))
        append(stamp.month, digits: 2)
        append(UInt8(ascii: "-"))
        append(stamp.day, digits: 2)
    }

    private mutating func appendTime(_ stamp: LogTimestamp) {
        append(stamp.second / 3600, digits: 2)
        append(UInt8(ascii: ":"))
        append(stamp.second / 60 % 60, digits: 2)
        append(UInt8(ascii: ":"))
        append(stamp.second % 60, digits: 2)
    }
}

#endif
