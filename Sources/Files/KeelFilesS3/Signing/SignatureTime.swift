internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The time of a signature, as a day and as a day with its time, in UTC.
struct SignatureTime: Hashable, Sendable {
    /// The day, such as `20150830`.
    let day: String
    /// The day and time, such as `20150830T123600Z`.
    let text: String

    init(_ date: Date) {
        let (civil, second) = CivilDate.split(Int64(date.timeIntervalSince1970.rounded(.down)))
        day = Self.digits(civil.year, 4) + Self.digits(civil.month, 2) + Self.digits(civil.day, 2)
        let parts = [second / 3600, second / 60 % 60, second % 60].map { Self.digits($0, 2) }
        text = day + "T" + parts.joined() + "Z"
    }

    private static func digits(_ number: Int64, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
