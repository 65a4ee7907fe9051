/// A date of the Gregorian calendar, computed arithmetically.
///
/// The algorithm counts years from March, so that leap days come last, and in eras of 400 years; H. Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms".
package struct CivilDate: Hashable, Sendable {
    package var year: Int64
    package var month: Int64
    package var day: Int64

    /// Creates a date without checking that it exists.
    package init(_ year: Int64, _ month: Int64, _ day: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    package init(days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    }

    /// The number of days since January 1, 1970.
    ///
    /// A day beyond the end of its month counts from the month's last day.
    package var days: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    package var exists: Bool {
        (1...12).contains(month) && day >= 1 && CivilDate(days: days) == self
    }

    /// Returns the date of a time in seconds since 1970, and the seconds since its midnight, both in UTC.
    package static func split(_ seconds: Int64) -> (date: CivilDate, second: Int64) {
        let second = ((seconds % 86_400) + 86_400) % 86_400
        return (CivilDate(days: (seconds - second) / 86_400), second)
    }
}
