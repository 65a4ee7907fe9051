internal import Foundation

/// Numbers in digits, independent of the locale, so that programs can read the output.
enum NumberText {
    static func decimal(_ value: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((value * Double(scale)).rounded())
        guard places > 0 else { return "\(scaled)" }
        let fraction = "\(abs(scaled) % scale)"
        let zeros = String(repeating: "0", count: places - fraction.count)
        return "\(scaled < 0 ? "-" : "")\(abs(scaled) / scale).\(zeros)\(fraction)"
    }
}

/// Days as `2026-03-14`, in UTC.
enum DayText {
    static func day(_ date: Date) -> String {
        date.formatted(.iso8601.year().month().day())
    }
}
