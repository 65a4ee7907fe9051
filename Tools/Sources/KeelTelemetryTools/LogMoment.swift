internal import Foundation
internal import KeelStorage

/// A time on the command line.
package enum LogMoment {
    /// Parses an RFC 3339 time (`2026-11-22T09:00:00Z`), a day (`2026-11-22`, its start in UTC), or an age as in
    /// ``seconds(_:)``.
    ///
    /// Times are microseconds since 1970; nil if the text is invalid or the age too long.
    package static func microseconds(_ text: String, now: Int64) -> Int64? {
        if let seconds = seconds(text) {
            let (span, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
            return isTooLong ? nil : now - span
        }
        let time = text.count == 10 ? text + "T00:00:00Z" : text
        return time.contains("T") ? Timestamp(text: time)?.microseconds : nil
    }

    /// Parses a duration: a whole number with `s`, `m`, `h` or `d`, such as `15m`; nil if it is invalid or too long.
    package static func seconds(_ text: String) -> Int64? {
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            count >= 0
        else { return nil }
        let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit)
        return isTooLong ? nil : seconds
    }

    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
}

extension Timestamp {
    fileprivate init?(text: String) {
        let json = Data("[\"\(text)\"]".utf8)
        guard let time = try? JSONDecoder().decode([Timestamp].self, from: json).first else {
            return nil
        }
        self = time
    }
}
