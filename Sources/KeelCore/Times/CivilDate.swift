/// A date of the Gregorian calendar, by arithmetic alone.
///
/// Counted in years that begin in March, where leap days come last, and in eras of 400 years;
/// H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
package struct CivilDate: Hashable, Sendable {
    package var year: Int64
    package var month: Int64
    package var day: Int64

    /// Takes a date as it is; it need not exist.
    package init(_ year: Int64, _ month: Int64, _ day: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    /// The date that is so many days after the first of January 1970.
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

    /// How many days after the first of January 1970 the date is; for a day that its month does not
    /// have, the day as many after the month's last.
    package var days: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
