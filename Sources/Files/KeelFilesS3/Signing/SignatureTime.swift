internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

struct SignatureTime: Hashable, Sendable {
    /// The day, such as `20150830`.
    let day: String
    /// The day and time, such as `20150830T123600Z`.
    let text: String

    init(_ date: Date) {
        let (civil, second) = CivilDate.split(Int64(date.timeIntervalSince1970.rounded(.down)))
        day = civil.year.digits(4) + civil.month.digits(2) + civil.day.digits(2)
        let parts = [second / 3600, second / 60 % 60, second % 60].map { $0.digits(2) }
        text = day + "T" + parts.joined() + "Z"
    }
}
