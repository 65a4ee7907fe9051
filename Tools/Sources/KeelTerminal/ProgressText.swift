internal import Foundation

/// The progress of long work as text.
package struct ProgressText: Sendable {
    package enum Unit: Equatable, Sendable {
        /// Bytes, shown in B to TiB.
        case bytes
        /// Items with this plural name, such as “documents”.
        case items(String)
        /// Parts of a total, of which only the share is shown.
        case share
    }

    package var unit: Unit
    package var done: Int
    /// The total amount; nil if it is unknown, or less than the initial ``done``.
    package var total: Int?
    /// The recent rate per second.
    package var rate: Double
    /// The text after the numbers, such as “3 of 10 files”.
    package var note: String?

    package init(unit: Unit, done: Int, total: Int?, rate: Double, note: String? = nil) {
        self.unit = unit
        self.done = done
        // More can be completed than the total if work was added meanwhile; the share is meaningless then.
        self.total = total.flatMap { $0 >= done ? $0 : nil }
        self.rate = rate
        self.note = note
    }

    /// Returns the text in at most `width` columns, with a bar if there is room.
    package func line(width: Int) -> String {
        let text = parts.joined(separator: ", ")
        guard let total, total > 0, width >= TextWidth.of(text) + 13 else {
            return TextWidth.truncated(text, to: width)
        }
        let size = min(30, width - TextWidth.of(text) - 3)
        let full = min(size, max(0, Int(Double(size) * Double(done) / Double(total))))
        let bar = String(repeating: "#", count: full) + String(repeating: "·", count: size - full)
        return "[\(bar)] \(text)"
    }

    private var parts: [String] {
        var parts: [String] = []
        if let total {
            let share = total > 0 ? Int(Double(done) / Double(total) * 100) : 100
            parts.append("\(share) %")
            if unit != .share { parts.append("\(amount(Double(done))) of \(described(total))") }
        } else {
            parts.append(described(done))
        }
        if rate > 0 {
            if unit != .share { parts.append("\(amount(rate))/s") }
            if let total, total > done { parts.append("\(time(Double(total - done) / rate)) left") }
        }
        if let note { parts.append(note) }
        return parts
    }

    private func described(_ count: Int) -> String {
        guard case .items(let name) = unit else { return amount(Double(count)) }
        return "\(count) \(count == 1 && name.hasSuffix("s") ? String(name.dropLast()) : name)"
    }

    private func amount(_ count: Double) -> String {
        guard unit == .bytes else {
            return count > 0 && count < 1 ? "under 1" : String(Int(count.rounded()))
        }
        var value = count
        for name in ["B", "KiB", "MiB", "GiB"] {
            guard value >= 1024 else { return number(value, name) }
            value /= 1024
        }
        return number(value, "TiB")
    }

    private func number(_ value: Double, _ name: String) -> String {
        let isWhole = name == "B" || value >= 100
        return "\(String(format: isWhole ? "%.0f" : "%.1f", value)) \(name)"
    }

    private func time(_ seconds: Double) -> String {
        // A longer time says little, and could exceed the range of the type.
        guard seconds < 360_000 else { return "over 100h" }
        let whole = Int(seconds.rounded(.up))
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        if hours > 0 { return "\(hours)h\(minutes)m" }
        return minutes > 0 ? "\(minutes)m\(whole % 60)s" : "\(whole)s"
    }
}

/// The rate of about the last ten seconds.
package struct ProgressRate: Sendable {
    private static let window = 10.0
    private var samples: [(time: Double, done: Int)] = []

    package init() {}

    /// Records the completed amount at a time in seconds.
    ///
    /// - Returns: The rate per second; 0 before any progress.
    package mutating func note(_ done: Int, at time: Double) -> Double {
        // A repeated transfer restarts at zero, which must not count as a negative rate.
        if let last = samples.last, done < last.done { samples = [] }
        samples.append((time, done))
        while samples.count > 2, time - samples[1].time > Self.window { samples.removeFirst() }
        guard let first = samples.first, time > first.time else { return 0 }
        return Double(done - first.done) / (time - first.time)
    }
}
